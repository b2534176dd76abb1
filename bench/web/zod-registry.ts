import { readFileSync } from "node:fs"
import { dirname } from "node:path"
import { FakeRegistry } from "@hamlet/npm/testing"

/** An npm registry on this machine, with the zod that this program has installed. */
export async function startZodRegistry(): Promise<FakeRegistry> {
  const root = dirname(Bun.resolveSync("zod/package.json", import.meta.dir))
  const packageJson = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    readonly version: string
  }
  const names = ["--transform", "s,^zod,package,"]
  const tar = Bun.spawn(["tar", "-cz", ...names, "-C", dirname(root), "--exclude=zod/src", "zod"], {
    stdout: "pipe",
  })
  const tarball = await new Response(tar.stdout).bytes()
  if ((await tar.exited) !== 0) throw new Error("Cannot pack zod")
  const registry = new FakeRegistry()
  registry.publishTarball("zod", packageJson.version, tarball, packageJson)
  return registry
}
