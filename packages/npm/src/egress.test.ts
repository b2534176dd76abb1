import { expect, test } from "bun:test"
import { createEgressPolicy, Egress, egressLimits } from "@hamlet/sandbox"
import type { ResolverOptions } from "./package-resolver.ts"
import { importOf, openResolver, runBundle } from "./testing/open-resolver.ts"

const settings = { allow: [], deny: [], ports: [{ first: 1, last: 65_535 }] }

function createEgress(errors: unknown[]): Egress {
  return new Egress({
    policy: createEgressPolicy(settings),
    limits: egressLimits,
    ca: undefined,
    own: {
      isApiHost: () => false,
      isProgramHost: () => false,
      fetchApi: async () => new Response(""),
      address: () => undefined,
    },
    takeBytes: () => {},
    onError: (error) => errors.push(error),
  })
}

/** Opens the exit as the server does. */
function toOpenDoor(egress: Egress): ResolverOptions<null>["openEgress"] {
  return (path, { allow, note }) => {
    const door = egress.open({ requests: path }, createEgressPolicy({ ...settings, allow }))
    const run = { id: "", depth: 0, log() {}, skipLogs() {}, fail() {}, sent: note }
    door.setClient({
      ownerId: "",
      egressKey: "",
      substitutions: [],
      findRun: () => ({ run, depth: 0 }),
      findSocketRun: () => undefined,
      mask: (text) => text,
    })
    return door
  }
}

test("PackageResolver reaches its registries at any address, and otherwise only what vals may reach", async () => {
  const errors: unknown[] = []
  const egress = createEgress(errors)
  await using open = await openResolver({ openEgress: toOpenDoor(egress) })
  using other = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("export {}", { headers: { "content-type": "text/javascript" } }),
  })
  open.registry.publish("good", "1.0.0", { "index.js": "exports.it = 'good'" })
  open.registry.publish("sly", "1.0.0", { "index.js": "" })
  open.registry.serve("/npm/sly", { status: 302, headers: { location: `${other.url}sly` } })
  open.registry.serve("/sly.ts", { status: 302, headers: { location: `${other.url}sly.ts` } })
  const urls = [
    `${other.url}x.js`,
    `${open.registry.url}sly.ts`,
    "http://[::1]:9/x.js",
    "http://no-such-host.invalid/x.js",
  ]
  const resolved = await open.resolve(
    ["npm:good", "npm:sly", ...urls].map((specifier) => `import "${specifier}"`).join("\n"),
  )
  expect(resolved.imports.map(({ error }) => error)).toEqual([
    null,
    `${open.registry.host} redirects it to an address that cannot be fetched`,
    "blocked: 127.0.0.1 is a loopback address",
    "blocked: 127.0.0.1 is a loopback address",
    "blocked: ::1 is a loopback address",
    "no-such-host.invalid cannot be found",
  ])
  expect(await runBundle(resolved, "return packages['npm:good'].it")).toBe("good")
  await egress.stop()
  expect(errors).toEqual([])
})

test("PackageResolver fetches a package with many dependencies through one egress socket", async () => {
  const errors: unknown[] = []
  const egress = createEgress(errors)
  await using open = await openResolver({ openEgress: toOpenDoor(egress) })
  const names = Array.from({ length: 300 }, (_, index) => `part-${index}`)
  for (const name of names)
    open.registry.publish(name, "1.0.0", { "index.js": `exports.it = "${name}"` })
  const dependencies = Object.fromEntries(names.map((name) => [name, "1"]))
  open.registry.publish(
    "many",
    "1.0.0",
    { "index.js": `exports.all = [${names.map((name) => `require("${name}").it`)}]` },
    { dependencies },
  )
  const resolved = await open.resolve('import "npm:many"')
  expect(importOf(resolved, "npm:many").error).toBeNull()
  expect(await runBundle(resolved, "return packages['npm:many'].all.length")).toBe(300)
  await egress.stop()
  expect(errors).toEqual([])
})
