import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { dirname, relative } from "node:path"
import { fileURLToPath } from "node:url"

const packages = fileURLToPath(new URL("../../../", import.meta.url))
/** Each takes memory of every server that loads it, although few servers or requests use it. */
const onDemand = [
  "contract/src/openapi/openapi.ts",
  "server/src/commands/metrics-port.ts",
  "server/src/mail/inbound/mail-server.ts",
  "server/src/mail/outbound/smtp-transport.ts",
  "server/src/runtime/oidc/oidc-provider.ts",
  "server/src/runtime/otlp/trace-exporter.ts",
  "owner-databases/src/libsql/libsql-databases.ts",
  "database/src/postgres/client.ts",
  "database/src/sqlite/open.ts",
  "@modelcontextprotocol/server",
  "bun",
  "node:http",
  "node:net",
  "node:tls",
  "node:zlib",
]

test("serve loads what few servers or requests use only when it is used", () => {
  const loaded = listLoaded(fileURLToPath(import.meta.resolve("./serve.ts")))
  expect(loaded).toContain("server/src/compose.ts")
  expect(loaded).toContain("zod")
  expect(onDemand.filter((name) => loaded.has(name))).toEqual([])
})

/** The modules that are loaded with a file: paths of ours, and the names of others. */
function listLoaded(file: string): ReadonlySet<string> {
  const transpiler = new Bun.Transpiler({ loader: "ts" })
  const files = new Set([file])
  const others: string[] = []
  for (const path of files)
    for (const { kind, path: name } of transpiler.scanImports(readFileSync(path, "utf8"))) {
      const isOurs = /^(\.|@hamlet\/)/.test(name) && !name.endsWith(".json")
      if (kind !== "import-statement") continue
      if (isOurs) files.add(Bun.resolveSync(name, dirname(path)))
      else others.push(name)
    }
  return new Set([...Array.from(files, (path) => relative(packages, path)), ...others])
}
