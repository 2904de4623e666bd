# SPDX-License-Identifier: MIT
"""An agent in a process of its own, for processes_test.py: it obeys lines of JSON on stdin, one answer each."""

import json
import sys

import machine

KINDS = {"OnGpu": machine.OnGpu, "OfPool": machine.OfPool, "Pageable": machine.Pageable}


class Other:
    def __init__(self, name):
        machine.call("cuInit", 0)
        self.agent = machine.Agent(name)
        self.memories = []

    def register(self, kind, *arguments, part=()):
        memory = KINDS[kind](*arguments)
        self.agent.register(memory, *part)
        self.memories.append(memory)
        return [memory.address, memory.size, memory.gpu]

    def metadata(self):
        return self.agent.nixl.get_agent_metadata().hex()

    def meet(self, metadata):
        return self.agent.nixl.add_remote_agent(bytes.fromhex(metadata)).decode()

    def put(self, index, data):
        self.memories[index].put(bytes.fromhex(data))

    def get(self, index):
        return self.memories[index].get().hex()

    def notify(self, agent, text):
        self.agent.nixl.send_notif(agent, text.encode())

    def notices(self, count):
        return {agent: [each.decode() for each in texts]
                for agent, texts in self.agent.wait_for_notices(count).items()}


def main():
    other = Other(sys.argv[1])
    for line in sys.stdin:
        name, positional, named = json.loads(line)
        print(json.dumps(getattr(other, name)(*positional, **named)), flush=True)


if __name__ == "__main__":
    main()
