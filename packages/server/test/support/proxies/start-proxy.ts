import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAuthority, findFreePort } from "@hamlet/kit/testing"
import type { Subprocess } from "bun"
import { createProxyClient, type ProxyClient, waitForPort } from "./proxy-client.ts"

// The files of deploy/ as they stand there but for ports, addresses and the places of files.
const deploy = new URL("../../../../../deploy/", import.meta.url).pathname

/** The names in these files. */
export const proxyNames = { api: "hamlet.example.org", vals: "hamlet-vals.example.net" }

export type ProxyKind = "nginx" | "haproxy" | "caddy"

export interface StartedProxy extends AsyncDisposable, ProxyClient {
  readonly plainPort: number
}

/** Undefined where it is not installed. Some are only on the PATH of root. */
export function findProxy(kind: ProxyKind): string | undefined {
  return Bun.which(kind, { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }) ?? undefined
}

interface Place {
  readonly program: string
  readonly folder: string
  readonly port: number
  readonly plainPort: number
  /** Host and port of each node. */
  readonly nodes: readonly string[]
}

/** The addresses of nodes that listen on this machine. */
export function toLocal(ports: readonly number[]): readonly string[] {
  return ports.map((port) => `127.0.0.1:${port}`)
}

/** Starts a proxy with its file in `deploy/`, in front of nodes with these addresses. */
export async function startProxy(kind: ProxyKind, nodes: readonly string[]): Promise<StartedProxy> {
  const folder = mkdtempSync(join(tmpdir(), `hamlet-${kind}-`))
  using authority = createAuthority()
  const [port, plainPort] = [await findFreePort(), await findFreePort()]
  const { cert, key } = authority.issue(`${proxyNames.api},DNS:*.${proxyNames.vals}`)
  const files = { "fullchain.pem": cert, "privkey.pem": key, "hamlet.pem": cert + key }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const program = findProxy(kind) ?? kind
  const children = await starters[kind]({ program, folder, port, plainPort, nodes })
  const stop = async () => {
    for (const child of children.toReversed()) {
      child.kill("SIGTERM")
      await child.exited
    }
    rmSync(folder, { recursive: true })
  }
  const [first] = children
  try {
    await Promise.race([
      waitForPort(port),
      first?.exited.then(async (code) => {
        const log = readFileSync(join(folder, "log"), "utf8")
        throw new Error(`${kind} ended with ${code}: ${log}`)
      }),
    ])
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...createProxyClient(port, authority.ca),
    plainPort,
    [Symbol.asyncDispose]: stop,
  }
}

/** The proxy itself is the first of the processes. */
const starters: Readonly<Record<ProxyKind, (place: Place) => Promise<readonly Subprocess[]>>> = {
  nginx: startNginx,
  haproxy: startHaproxy,
  caddy: startCaddy,
}

async function startNginx({ program, folder, port, plainPort, nodes }: Place) {
  const nodesFile = join(folder, "nodes.conf")
  const text = change(readFileSync(join(deploy, "nginx", "hamlet.conf"), "utf8"), {
    "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
    "listen 80;": `listen 127.0.0.1:${plainPort};`,
    "/etc/letsencrypt/live/hamlet.example.org/": `${folder}/`,
    "/etc/nginx/hamlet-nodes.conf": nodesFile,
  })
  mkdirSync(join(folder, "temp"))
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, "temp", kind)};`)
    .join("\n")
  const user = process.getuid?.() === 0 ? "user root;" : ""
  const file = join(folder, "nginx.conf")
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/pid; ${user}\nevents {}\nhttp {\naccess_log off;\n${places}\n${text}\n}\n`,
  )
  const command = [program, "-p", folder, "-e", "stderr", "-c", file]
  const env = {
    NODES: nodes.join(" "),
    NODES_FILE: nodesFile,
    NODES_RELOAD: [...command, "-s", "reload"].join(" "),
    NODES_SECONDS: "0.2",
  }
  const watch = ["sh", join(deploy, "nginx", "watch-nodes.sh")]
  await start(folder, [...watch, "once"], env).exited
  return [start(folder, command), start(folder, watch, env)]
}

async function startHaproxy({ program, folder, port, plainPort, nodes }: Place) {
  const text = change(readFileSync(join(deploy, "haproxy", "haproxy.cfg"), "utf8"), {
    "bind :443": `bind 127.0.0.1:${port}`,
    "bind :80": `bind 127.0.0.1:${plainPort}`,
    "/etc/haproxy/hamlet.pem": join(folder, "hamlet.pem"),
    "10.0.0.1:8080": nodes[0] ?? "",
    // A further node is a further line.
    "    server node2 10.0.0.2:8080": nodes
      .slice(1)
      .map((node, index) => `    server node${index + 2} ${node}`)
      .join("\n"),
  })
  const file = join(folder, "haproxy.cfg")
  writeFileSync(file, text)
  return [start(folder, [program, "-db", "-f", file])]
}

async function startCaddy({ program, folder, port, plainPort, nodes }: Place) {
  const certificate = `tls ${join(folder, "fullchain.pem")} ${join(folder, "privkey.pem")}`
  const text = change(readFileSync(join(deploy, "Caddyfile"), "utf8"), {
    // Debian's Caddy has no modules of DNS providers.
    "tls {\n\t\tdns {$DNS_PROVIDER} {$DNS_TOKEN}\n\t}": certificate,
    "{$HAMLET_DOMAIN} {": `{$HAMLET_DOMAIN} {\n\t${certificate}`,
  })
  const file = join(folder, "Caddyfile")
  const options = `{\n\tadmin off\n\tskip_install_trust\n\tgrace_period 1s\n\thttp_port ${plainPort}\n\thttps_port ${port}\n}\n`
  writeFileSync(file, options + text)
  return [
    start(folder, [program, "run", "--adapter", "caddyfile", "--config", file], {
      HAMLET_DOMAIN: proxyNames.api,
      VALS_DOMAIN: proxyNames.vals,
      HAMLET_NODES: nodes.join(" "),
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    }),
  ]
}

/** Replaces texts that must be there: otherwise the file would be tested with its own addresses. */
function change(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`Cannot find ${from} in a file of deploy/`)
    return changed.replaceAll(from, to)
  }, text)
}

function start(
  folder: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Subprocess {
  const log = Bun.file(join(folder, "log"))
  return Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdout: "ignore",
    stderr: log,
  })
}
