// Builds the image of deploy/Containerfile, starts it with the flags of deploy/compose.yaml, and
// tries what an operator does with it: save a val, call it, stop it and start it again.

import { createBaseImage } from "./base-image.ts"
import { startCaddy, validateCompose } from "./caddy.ts"
import { readServerFlags } from "./compose-file.ts"
import { expectEqual, expectIncludes } from "./expect.ts"
import { Podman } from "./podman.ts"
import { ServerContainer } from "./server-container.ts"

const imageBytesMax = 300_000_000
const image = "localhost/hamlet"
const code = `export default (request: Request) => new Response("hello from " + new URL(request.url).host + new URL(request.url).pathname)`
const notTried = [
  "pulling the published images (Node, PostgreSQL, SeaweedFS, libSQL, Caddy) and building Caddy with a DNS module",
  "a certificate of a public authority",
  "Docker, and the other architecture",
]

interface Ready {
  readonly isolation: string
  readonly warnings: readonly string[]
}

const pulls = process.argv.includes("--pull")
const podman = new Podman()
const ports = { server: findPort(), http: findPort(), https: findPort() }
const settings = {
  HAMLET_BASE_URL: `https://hamlet.localhost:${ports.https}`,
  HAMLET_VALS_DOMAIN: `vals.localhost:${ports.https}`,
  HAMLET_ADDRESS_HEADER: "x-forwarded-for",
  HAMLET_METRICS_PORT: "0",
}

try {
  await validateCompose()
  report("compose.yaml and Caddyfile are valid")
  await build()
  await inspect()
  const flags = readServerFlags("deploy/compose.yaml")
  await refuse(flags.security)
  const server = new ServerContainer(podman, "hamlet", ports.server)
  await use(server, [...flags.security, ...flags.rest])
  for (const what of notTried) report(`not tried: ${what}`)
} finally {
  await podman.stop()
}

async function build(): Promise<void> {
  const base = pulls ? [] : ["--build-arg", `NODE_IMAGE=${await createBaseImage(podman)}`]
  await podman.mustRun(
    "build",
    "--format",
    "docker",
    "--network",
    "host",
    ...base,
    "--file",
    "deploy/Containerfile",
    "--tag",
    image,
    ".",
  )
}

async function inspect(): Promise<void> {
  const [found] = JSON.parse(await podman.mustRun("image", "inspect", image)) as readonly {
    readonly Size: number
    readonly User: string
    readonly Config: { readonly Volumes: object }
  }[]
  const bytes = found?.Size ?? Number.NaN
  report(`the image has ${(bytes / 1_000_000).toFixed(0)} MB`)
  if (!(bytes <= imageBytesMax)) throw new Error(`it must have at most ${imageBytesMax} bytes`)
  expectEqual("its user", found?.User, "1000:1000")
  expectEqual("its volumes", Object.keys(found?.Config.Volumes ?? {}).join(), "/data")
}

/** Without a flag, the server says which one is missing, and does not start. */
async function refuse(security: readonly string[]): Promise<void> {
  const [seccomp, paths] = ["seccomp=unconfined", "systempaths=unconfined"]
  const cases = [
    { given: [], missing: [seccomp, paths] },
    { given: [seccomp], missing: [paths] },
    { given: [paths], missing: [seccomp] },
  ]
  for (const { given, missing } of cases) {
    const flags = given.flatMap((option) => ["--security-opt", option])
    const container = new ServerContainer(podman, "refused", ports.server)
    const { code: exit, text } = await container.refuse(image, flags)
    const names = missing.map((option) => `--security-opt ${option}`).join(" ")
    expectIncludes("the refusal", text, `start the container with ${names}, or `)
    expectEqual("its exit code", exit !== 0, true)
    for (const option of missing) expectIncludes("compose.yaml", security.join(" "), option)
    report(`without ${missing.join(" and ")} it says so`)
  }
}

async function use(server: ServerContainer, flags: readonly string[]): Promise<void> {
  await server.start(image, settings, flags)
  const ready = await server.call<Ready>("GET", "/readyz")
  expectEqual("the isolation", ready.isolation, "bubblewrap")
  expectEqual("the warnings", ready.warnings.join(), "")
  report(`it runs, isolated by ${ready.isolation}`)
  for (const path of ["/", "/docs", "/docs/vals.md"]) {
    const response = await fetch(server.url + path)
    expectEqual(`the status of ${path}`, response.status, 200)
  }
  const val = { name: "hello", code, type: "http", privacy: "public" }
  await server.call("PUT", "/v1/vals", val)
  await callVal(server, "/first")
  const health = ["bun", "-e", await readHealthCheck()]
  expectEqual("the health check", (await server.execute(...health)).code, 0)
  report("a val is saved and called, and the health check succeeds")
  await server.stop()
  await server.startAgain()
  await callVal(server, "/again")
  report("stopped and started again, it has the val")
  await server.stop()
  await server.remove()
  await server.start(image, settings, flags)
  await callVal(server, "/replaced")
  report("a new container has the data of the volume")
  await useCaddy()
  await server.stop()
}

async function callVal(server: ServerContainer, path: string): Promise<void> {
  const host = `ada-hello.vals.localhost:${ports.https}`
  const response = await fetch(server.url + path, { headers: { host } })
  expectEqual("the response of the val", await response.text(), `hello from ${host}${path}`)
}

/** The proxy of compose.yaml, with certificates of an authority of its own. */
async function useCaddy(): Promise<void> {
  await using caddy = await startCaddy(podman.folder, ports)
  const val = await caddy.fetch("ada-hello.vals.localhost", "/metrics")
  expectIncludes("the val behind Caddy", val.text, "/metrics")
  expectEqual("the certificate of the vals", val.names, "DNS:*.vals.localhost")
  expectEqual(
    "the status of /readyz",
    (await caddy.fetch("hamlet.localhost", "/readyz")).status,
    200,
  )
  expectEqual(
    "the status of /metrics",
    (await caddy.fetch("hamlet.localhost", "/metrics")).status,
    404,
  )
  const api = await caddy.fetch("hamlet.localhost", "/openapi.json")
  expectIncludes("the API behind Caddy", api.text, '"openapi"')
  report("behind Caddy, vals have one wildcard certificate")
}

async function readHealthCheck(): Promise<string> {
  const text = await podman.mustRun("image", "inspect", "--format", "{{json .HealthCheck}}", image)
  const { Test } = JSON.parse(text) as { readonly Test: readonly string[] }
  return Test.at(-1) ?? ""
}

function findPort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
  const { port } = server
  server.stop(true)
  return port
}

function report(line: string): void {
  console.log(line)
}
