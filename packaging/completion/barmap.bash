# SPDX-License-Identifier: MIT
# bash completion for barmap. tests/packaging compares it with what `barmap --help` lists.

_barmap_options() {
    local target="--device --memory --backend --routine" output="--json --output"
    local measuring="--sizes --max --iterations --budget"
    case $1 in
        info) echo "-v --verbose $output" ;;
        demo) echo "$target $measuring $output" ;;
        check) echo "--device --backend --max-size --all-devices --require $output" ;;
        lat) echo "$target $measuring --compare $output" ;;
        bw) echo "$target $measuring --threads $output" ;;
        api) echo "$target $measuring --cycles $output" ;;
        batch) echo "--device $measuring --pieces --between --peer --direction --order --methods --in-flight --pool --same \
            --both --beside --ordered --check --round-trips --seed $output" ;;
        pingpong) echo "$target --iterations $output" ;;
        ring) echo "--device --only --slots --messages --iterations --slices --load $output" ;;
        fresh) echo "$target --sizes --iterations --every-routine --demonstrate-stale $output" ;;
        stress) echo "$target --threads --iterations --region --pieces --pairs --seed $output" ;;
        log) echo "--fd --newest-of --follow" ;;
        run) echo "--" ;;
        sim) echo "--driver --devices --bar1 --memory --fail --" ;;
        plot) echo "-o --output --title --series --overlay" ;;
    esac
    echo "-h --help"
}

_barmap() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local subcommand=${COMP_WORDS[1]} i
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "info demo check lat bw api batch pingpong ring fresh stress log run sim plot \
            -h --help --version" -- "$word")
        return
    fi
    if [[ $subcommand == run || $subcommand == sim ]]; then
        for ((i = 2; i < COMP_CWORD; ++i)); do
            [[ ${COMP_WORDS[i]} == -- ]] || continue
            if declare -F _command_offset > /dev/null; then
                _command_offset $((i + 1))
            elif [[ $i -eq $((COMP_CWORD - 1)) ]]; then
                mapfile -t COMPREPLY < <(compgen -c -- "$word")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
            return
        done
    fi
    local values=
    case $before in
        --memory) [[ $subcommand == sim ]] && return || values="device vmm vmm5 barmap" ;;
        --backend | --require) values="gdrdrv dmabuf rm vulkan" ;;
        --driver) values="535 550 570 580 610" ;;
        --direction) values="to_cpu to_gpu" ;;
        --order) values="contiguous random" ;;
        --methods) values="engine gpu batch loop graph gpugraph kernel4 kernel32 one" ;;
        --between) values="host peer inside" ;;
        --newest-of) values="id a b c" ;;
        --beside) values="gemm copy" ;;
        --only) values="rates trip fifo calls steps soak" ;;
        --routine) values="auto $(barmap info --verbose 2> /dev/null |
            sed -n '/^copy routine/,$ s/^\([a-z0-9]\+\) *yes.*/\1/p')" ;;
        --output | -o)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        --device | --peer | --in-flight | --devices | --sizes | --max | --max-size | --iterations | --budget | --threads | \
            --cycles | --region | --seed | --bar1 | --fail | --pieces | --pool | --check | --round-trips | \
            --slots | --messages | --slices | --title | --series | --fd) return ;;
    esac
    if [[ $values ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [[ $subcommand == plot && $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$(_barmap_options "$subcommand")" -- "$word")
    fi
}

complete -o filenames -F _barmap barmap
