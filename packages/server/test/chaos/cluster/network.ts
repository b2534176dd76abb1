import { sleepSync } from "bun"

/** Where a node can be cut off: from the proxy, or from the databases. */
export type Side = "front" | "back"

const sides: readonly Side[] = ["front", "back"]

/**
 * A network namespace per node, as if each was a machine. A node has two links: at the front is the
 * proxy, at the back are the databases. A link that is down drops packets and says nothing, as a
 * broken cable does. It takes root.
 */
export class Network implements Disposable {
  readonly #name: string
  readonly #nodes: number
  readonly #third: number

  constructor(nodes: number) {
    // Names of links have 15 characters at most.
    this.#name = `hm${process.pid.toString(36)}`
    this.#third = 2 * (process.pid % 120)
    this.#nodes = nodes
    try {
      for (const side of sides) this.#addBridge(side)
      for (let node = 0; node < nodes; node += 1) this.#addNode(node)
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** The address of everything but the nodes. */
  hostAddress(side: Side): string {
    return `${this.#subnet(side)}.1`
  }

  nodeAddress(node: number, side: Side): string {
    return `${this.#subnet(side)}.${10 + node}`
  }

  /** A command that execs another one as if on the machine of the node, with a host name of its own. */
  prefix(node: number): readonly string[] {
    const rename = `hostname ${this.#namespace(node)} && exec "$@"`
    return [
      "nsenter",
      `--net=/run/netns/${this.#namespace(node)}`,
      "unshare",
      "--uts",
      "sh",
      "-c",
      rename,
      "sh",
    ]
  }

  cut(node: number, side: Side): void {
    run("ip", "link", "set", this.#link(node, side), "down")
  }

  heal(node: number, side: Side): void {
    run("ip", "link", "set", this.#link(node, side), "up")
  }

  [Symbol.dispose](): void {
    for (let node = 0; node < this.#nodes; node += 1)
      attempt("ip", "netns", "delete", this.#namespace(node))
    for (const side of sides) attempt("ip", "link", "delete", this.#bridge(side))
  }

  #addBridge(side: Side): void {
    run("ip", "link", "add", this.#bridge(side), "type", "bridge")
    run("ip", "address", "add", `${this.hostAddress(side)}/24`, "dev", this.#bridge(side))
    run("ip", "link", "set", this.#bridge(side), "up")
  }

  #addNode(node: number): void {
    const namespace = this.#namespace(node)
    run("ip", "netns", "add", namespace)
    run("ip", "-n", namespace, "link", "set", "lo", "up")
    for (const side of sides) {
      const link = this.#link(node, side)
      const veth = ["type", "veth", "peer", "name", side, "netns", namespace]
      run("ip", "link", "add", link, ...veth)
      run("ip", "link", "set", link, "master", this.#bridge(side), "up")
      const address = `${this.nodeAddress(node, side)}/24`
      run("ip", "-n", namespace, "address", "add", address, "dev", side)
      run("ip", "-n", namespace, "link", "set", side, "up")
    }
  }

  #subnet(side: Side): string {
    return `10.213.${this.#third + sides.indexOf(side)}`
  }

  #namespace(node: number): string {
    return `${this.#name}-${node}`
  }

  #bridge(side: Side): string {
    return `${this.#name}-${side}`
  }

  #link(node: number, side: Side): string {
    return `${this.#name}-${node}${side}`
  }
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`Cannot run ${command.join(" ")}: ${stderr}`)
}

/** The kernel frees a namespace a moment after its last process has ended. */
function attempt(...command: string[]): void {
  for (let left = 10; left > 0 && Bun.spawnSync(command).exitCode !== 0; left -= 1) sleepSync(50)
}
