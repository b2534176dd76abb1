import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createClient } from "@hamlet/contract/client"
import { notRun } from "@hamlet/kit/testing"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const checkout = fileURLToPath(new URL("../../../../", import.meta.url))
const bubblewrap = Bun.which("bwrap")
if (!bubblewrap) notRun("hamlet serve with an unpacked bubblewrap", "bubblewrap is not installed")

/** What a server needs besides bubblewrap. */
const programs = ["sh", "setpriv", "ldd"]
/** The server runs as an ordinary user, also where the tests do not. */
const nobody = 65_534
const isRoot = process.getuid?.() === 0

describe.if(bubblewrap !== null)("hamlet serve", () => {
  test("uses the bubblewrap that npm start has unpacked, as a user who may not install it", async () => {
    using clone = copyCheckout()
    const own = join(clone.folder, ".tools", "bubblewrap", "usr", "bin", "bwrap")
    mkdirSync(dirname(own), { recursive: true })
    copyFileSync(bubblewrap ?? "", own)
    const bin = join(clone.folder, "bin")
    mkdirSync(bin)
    for (const name of programs) symlinkSync(Bun.which(name) ?? "", join(bin, name))

    const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"]
    const main = join(clone.folder, "packages", "server", "src", "main.ts")
    const program = [process.execPath, main]
    await using fixture = await openServerFixture(undefined, isRoot ? asNobody : [], program)
    chmodSync(dirname(fixture.dataDir), 0o755)
    mkdirSync(fixture.dataDir)
    if (isRoot) chownSync(fixture.dataDir, nobody, nobody)
    const env = { PATH: bin, HOME: "/", TMPDIR: "/tmp", HAMLET_ISOLATION: "auto" }
    const { hamlet, baseUrl } = await fixture.serve(env)
    const client = createClient({ baseUrl, token: chosenToken })
    expect((await client.getReadiness()).isolation).toBe("bubblewrap")
    expect(await client.evalCode({ code: "(a, b) => a + b", args: [1, 42] })).toBe(43)
    hamlet.signal("SIGTERM")
    expect(await hamlet.ended()).toMatchObject({ exitCode: 0 })
  })
})

/** The sources where an ordinary user can read them, with the packages of this checkout. */
function copyCheckout() {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-clone-"))
  chmodSync(folder, 0o755)
  const isSource = (path: string) => !/\/(?:node_modules|dist|test)$/.test(path)
  for (const name of ["package.json", "packages", "scripts"])
    cpSync(join(checkout, name), join(folder, name), { recursive: true, filter: isSource })
  // Our own packages are those of the copy; the others are those of this checkout.
  const [from, to] = [join(checkout, "node_modules"), join(folder, "node_modules")]
  mkdirSync(join(to, "@hamlet"), { recursive: true })
  for (const name of readdirSync(from))
    if (name !== "@hamlet") symlinkSync(join(from, name), join(to, name))
  for (const name of readdirSync(join(from, "@hamlet")))
    symlinkSync(join(folder, "packages", name), join(to, "@hamlet", name))
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}
