// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Gives the build the symbol versions of nvidia.ko's functions. Kernels with CONFIG_MODVERSIONS compare
 * them when gdrdrv is loaded, and nvidia.ko's own list is installed nowhere. Never installed or loaded. It has the name
 * of the module for which it stands, since gdrdrv.ko says that it depends on this one.
 */
#include <linux/errno.h>
#include <linux/module.h>

#include <nv-p2p.h> /* the one that the build takes, which may not be the one beside this file */

int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 uint64_t length, struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(nvidia_p2p_get_pages);

int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(nvidia_p2p_put_pages);

int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(nvidia_p2p_free_page_table);

#ifdef NVIDIA_P2P_CAP_PERSISTENT_PAGES
int nvidia_p2p_cap_persistent_pages;
EXPORT_SYMBOL(nvidia_p2p_cap_persistent_pages);
#endif

#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table, uint32_t flags)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(nvidia_p2p_get_pages_persistent);

int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table, uint32_t flags)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(nvidia_p2p_put_pages_persistent);
#endif

MODULE_DESCRIPTION("Symbol versions of nvidia.ko for building gdrdrv; not for loading");
MODULE_LICENSE("Dual MIT/GPL");
