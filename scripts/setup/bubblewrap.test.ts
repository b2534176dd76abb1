import { afterEach, describe, expect, spyOn, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ensureBubblewrap } from "./bubblewrap.mjs"
import { findBubblewrap } from "./programs.mjs"

/** Writes down how it is called, and does what each command is to do. */
const aptGet = (folder: string, commands: string) => `#!/bin/sh
echo "apt-get $*" >>"${folder}/calls"
case "$*" in
${commands}
*) exit 1 ;;
esac
`

const dpkg = (folder: string) => `#!/bin/sh
echo "dpkg $*" >>"${folder}/calls"
/bin/mkdir -p "$3/usr/bin"
printf '#!/bin/sh\\necho bubblewrap 1.0\\n' >"$3/usr/bin/bwrap"
/bin/chmod 755 "$3/usr/bin/bwrap"
`

const realPath = process.env.PATH
const folders: string[] = []

afterEach(() => {
  process.env.PATH = realPath
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A machine without bubblewrap, on which there are these programs and no others. */
function openMachine(
  commands: string,
  others: Readonly<Record<string, (folder: string) => string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-setup-"))
  folders.push(folder)
  const bin = join(folder, "bin")
  mkdirSync(bin)
  const programs = { "apt-get": (place: string) => aptGet(place, commands), ...others }
  for (const [name, write] of Object.entries(programs)) {
    writeFileSync(join(bin, name), write(folder))
    chmodSync(join(bin, name), 0o755)
  }
  process.env.PATH = bin
  return {
    bin,
    own: join(folder, "tools", "bubblewrap"),
    readCalls: () => readFileSync(join(folder, "calls"), "utf8").trimEnd().split("\n"),
  }
}

const install = (bin: string) =>
  `*install*bubblewrap) echo '#!/bin/sh' >"${bin}/bwrap"; /bin/chmod 755 "${bin}/bwrap" ;;`
const download = "*download*bubblewrap) echo deb >bubblewrap_1.deb ;;"

describe.skipIf(process.platform !== "linux")("ensureBubblewrap", () => {
  // Root alone may keep Debian from starting services.
  test.if(process.getuid?.() === 0)("installs it as root", async () => {
    using quiet = silence()
    const machine = openMachine("")
    writeFileSync(
      join(machine.bin, "apt-get"),
      aptGet(join(machine.bin, ".."), install(machine.bin)),
    )
    await ensureBubblewrap({ isRoot: true, folder: machine.own })
    expect(findBubblewrap(machine.own)).toBe(join(machine.bin, "bwrap"))
    expect(machine.readCalls()).toEqual([
      expect.stringMatching(/ install --yes --no-install-recommends bubblewrap$/),
    ])
    expect(quiet.said()).toEqual([
      "Installing bubblewrap with apt-get …",
      expect.stringMatching(/^apt-get install: \d+\.\d s, \d+\.\d s of CPU time$/),
    ])
    await ensureBubblewrap({ isRoot: true, folder: machine.own })
    expect(machine.readCalls()).toHaveLength(1)
  })

  test("unpacks it into its own folder as another user, and finds it there afterwards", async () => {
    using _quiet = silence()
    const machine = openMachine(download, { dpkg })
    await ensureBubblewrap({ isRoot: false, folder: machine.own })
    expect(findBubblewrap(machine.own)).toBe(join(machine.own, "usr", "bin", "bwrap"))
    expect(machine.readCalls()).toEqual([
      expect.stringMatching(/ download bubblewrap$/),
      "dpkg -x bubblewrap_1.deb files",
    ])
    await ensureBubblewrap({ isRoot: false, folder: machine.own })
    expect(machine.readCalls()).toHaveLength(2)
    expect(readdirSync(join(machine.own, ".."))).toEqual(["bubblewrap"])
  })

  test("fetches a package list if the machine has none", async () => {
    using _quiet = silence()
    const machine = openMachine(
      `*lists=*update) : ;;\n*lists=*download*) echo deb >bubblewrap_1.deb ;;`,
      { dpkg },
    )
    await ensureBubblewrap({ isRoot: false, folder: machine.own })
    expect(findBubblewrap(machine.own)).toBe(join(machine.own, "usr", "bin", "bwrap"))
    expect(machine.readCalls()).toHaveLength(4)
  })

  test("says in one sentence that it cannot be had, and leaves nothing behind", async () => {
    using quiet = silence()
    const machine = openMachine("", { dpkg })
    await ensureBubblewrap({ isRoot: false, folder: machine.own })
    expect(findBubblewrap(machine.own)).toBeUndefined()
    expect(quiet.said().at(-1)).toBe("Cannot unpack bubblewrap: it could not be downloaded")
    expect(existsSync(machine.own) ? readdirSync(join(machine.own, "..")) : []).toEqual([])
    const other = openMachine(download, {
      dpkg: (folder) => dpkg(folder).replace("echo bubblewrap 1.0", "exit 127"),
    })
    await ensureBubblewrap({ isRoot: false, folder: other.own })
    expect(quiet.said().at(-1)).toBe(
      "Cannot unpack bubblewrap: it does not start, because libraries are missing",
    )
    expect(findBubblewrap(other.own)).toBeUndefined()
  })

  test("does nothing where there is no apt-get", async () => {
    const machine = openMachine("")
    rmSync(join(machine.bin, "apt-get"))
    await ensureBubblewrap({ isRoot: true, folder: machine.own })
    expect(findBubblewrap(machine.own)).toBeUndefined()
  })
})

function silence() {
  const spy = spyOn(console, "error").mockImplementation(() => {})
  return {
    said: () => spy.mock.calls.map(([text]) => String(text)),
    [Symbol.dispose]: () => spy.mockRestore(),
  }
}
