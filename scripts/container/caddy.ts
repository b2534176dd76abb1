import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "node:tls"
import { expectIncludes } from "./expect.ts"
import { mustRun } from "./podman.ts"

/** Values for the variables of compose.yaml. */
const variables = {
  HAMLET_DOMAIN: "hamlet.localhost",
  VALS_DOMAIN: "vals.localhost",
  POSTGRES_PASSWORD: "secret",
  S3_PASSWORD: "secret",
  HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
  DNS_PROVIDER: "provider",
  DNS_TOKEN: "token",
}
const dnsLine = "dns {$DNS_PROVIDER} {$DNS_TOKEN}"
const readyMsMax = 30_000
const pauseMs = 200

/** Has podman-compose read the file, with all variables; it only prints what it would do. */
export async function validateCompose(): Promise<void> {
  const file = ["-f", "deploy/compose.yaml", "--dry-run", "--podman-path", "true"]
  const text = await mustRun(["podman-compose", ...file, "up", "--detach"], variables)
  expectIncludes("compose.yaml", text, `HAMLET_BASE_URL=https://${variables.HAMLET_DOMAIN}`)
}

/** What a client gets through Caddy. */
interface Received {
  readonly status: number
  readonly text: string
  /** The names in the certificate. */
  readonly names: string
}

/** Starts Debian's Caddy with our file: it has no DNS modules, so that it makes certificates itself. */
export async function startCaddy(
  folder: string,
  ports: { readonly server: number; readonly http: number; readonly https: number },
): Promise<AsyncDisposable & { fetch(host: string, path: string): Promise<Received> }> {
  const source = readFileSync("deploy/Caddyfile", "utf8")
  expectIncludes("deploy/Caddyfile", source, dnsLine)
  const global = `{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\thttp_port ${ports.http}\n\thttps_port ${ports.https}\n}\n`
  const path = join(folder, "Caddyfile")
  const text = source.replace(dnsLine, "issuer internal")
  writeFileSync(path, global + text)
  const folders = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const nodes = { HAMLET_NODES: `127.0.0.1:${ports.server}` }
  const env = { ...process.env, ...variables, ...nodes, ...folders }
  await mustRun(["caddy", "validate", "--adapter", "caddyfile", "--config", path], env)
  const child = Bun.spawn(["caddy", "run", "--adapter", "caddyfile", "--config", path], {
    env,
    stdout: "ignore",
    stderr: Bun.file(join(folder, "caddy.log")),
  })
  const fetchNow = (host: string, target: string) => request(ports.https, host, target)
  await waitUntilReady(() => fetchNow(variables.HAMLET_DOMAIN, "/readyz"))
  return {
    fetch: fetchNow,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM")
      await child.exited
    },
  }
}

async function waitUntilReady(attempt: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + readyMsMax
  for (;;)
    try {
      await attempt()
      return
    } catch (error) {
      if (performance.now() > until) throw error
      await Bun.sleep(pauseMs)
    }
}

/** Over TLS, to see the certificate too. */
function request(port: number, host: string, path: string): Promise<Received> {
  return new Promise((resolve, reject) => {
    let text = ""
    let names = ""
    // The authority of the test is unknown to this machine; the test reads the names itself.
    const options = { host: "127.0.0.1", port, servername: host, rejectUnauthorized: false }
    const socket = connect(options, () => {
      names = socket.getPeerCertificate().subjectaltname ?? ""
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`)
    })
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      text += chunk
    })
    socket.on("error", reject)
    socket.on("end", () => resolve({ status: Number(text.split(" ")[1]), text, names }))
  })
}
