// npm run fresh-machine: the two commands of the README, as written there, on a new machine: a
// minimal Debian with Node and nothing else. Once as root, then as an ordinary user without apt,
// where suites that need more are left out by name. `-- start` runs only npm start, `-- root` and
// `-- user` only one of the two.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { root as checkout } from "../setup/root.mjs"
import { copyIfThere, makeMinimalDebian, toCommandInside } from "./minimal-debian.mjs"

/**
 * @typedef {object} Machine
 * @property {string} name
 * @property {string} root its file system
 * @property {string} folder the clone, inside
 * @property {number} userId
 * @property {string} home
 * @property {string} isolation what `npm start` should reach there
 */

const address = "http://localhost:8080"
const startMsMax = 300_000
/**
 * Where a server's programs lie, readable to every user: tests of root act as an ordinary user too,
 * who cannot read below the home of root.
 */
const cloneFolder = "/srv/hamlet"
const ordinaryUserId = 1000
const userName = "ada"

const args = process.argv.slice(2)
const wants = (/** @type {string} */ name) =>
  args.includes(name) || !args.some((arg) => ["root", "user"].includes(arg))

if (process.getuid?.() !== 0) {
  console.error("Cannot make a new machine: that takes root, on Debian")
  process.exit(1)
}
const work = mkdtempSync(join(tmpdir(), "hamlet-machine-"))
process.once("exit", () => rmSync(work, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

const base = join(work, "base")
mkdirSync(base)
/** @type {string[]} */
const problems = []
await step("a minimal Debian", () => makeMinimalDebian(base))
for (const machine of await makeMachines()) {
  await step(`${machine.name}: npm start`, () => tryStart(machine))
  if (!args.includes("start")) await step(`${machine.name}: npm test`, () => tryTest(machine))
}
console.log(problems.length === 0 ? "Both commands work there" : problems.join("\n"))
process.exitCode = problems.length === 0 ? 0 : 1

/**
 * Runs a part, reports how long it took, and goes on with the next one if it fails.
 * @param {string} name
 * @param {() => unknown} run
 */
async function step(name, run) {
  console.log(`== ${name} …`)
  const startedAt = performance.now()
  try {
    await run()
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.message : error}`)
  }
  console.log(`== ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}

/** @returns {Promise<Machine[]>} */
async function makeMachines() {
  if (problems.length > 0) return []
  return [
    ...(wants("root") ? [makeMachine("root", "bubblewrap")] : []),
    ...(wants("user") ? [withoutApt(makeMachine("user", "deno"))] : []),
  ]
}

/**
 * @param {"root" | "user"} name
 * @param {string} isolation
 * @returns {Machine}
 */
function makeMachine(name, isolation) {
  const root = join(work, name)
  spawnSync("cp", ["--archive", base, root], { stdio: "inherit" })
  const userId = name === "root" ? 0 : ordinaryUserId
  const home = userId === 0 ? "/root" : `/home/${userName}`
  mkdirSync(join(root, home), { recursive: true })
  spawnSync("git", ["clone", "--quiet", checkout, join(root, cloneFolder)], { stdio: "inherit" })
  if (userId !== 0) {
    copyIfThere(join(root, "root", ".npmrc"), join(root, home, ".npmrc"))
    const own = [home, cloneFolder].map((folder) => join(root, folder))
    spawnSync("chown", ["--recursive", `${userId}:${userId}`, ...own])
    spawnSync("useradd", [
      "--root",
      root,
      "--uid",
      String(userId),
      "--no-create-home",
      "--home-dir",
      home,
      userName,
    ])
  }
  return { name, root, folder: cloneFolder, userId, home, isolation }
}

/** @param {Machine} machine */
function withoutApt(machine) {
  const program = join(machine.root, "usr", "bin", "apt-get")
  renameSync(program, `${program}.away`)
  return machine
}

/**
 * @param {Machine} machine
 * @param {string[]} command
 */
function spawnInside(machine, command) {
  const { program, args: all, env } = toCommandInside(machine, command)
  return spawn(program, all, { env, stdio: ["ignore", "pipe", "inherit"] })
}

/**
 * Starts the server, saves a val, sends it a request, and stops the server.
 * @param {Machine} machine
 */
async function tryStart(machine) {
  await expectNothingThere()
  const startedAt = performance.now()
  const child = spawnInside(machine, ["npm", "start"])
  const ended = once(child, "exit")
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
    process.stdout.write(chunk)
    output += chunk
  })
  try {
    await waitForServer(ended, () => output)
    console.log(`It is ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    await useServer(output, machine)
  } finally {
    spawnSync("pkill", ["--parent", String(child.pid), "--signal", "TERM"])
    await ended
  }
}

async function expectNothingThere() {
  const isThere = await fetch(`${address}/readyz`).then(
    () => true,
    () => false,
  )
  if (isThere) throw new Error(`another program listens at ${address}: stop it first`)
}

/**
 * Waits until the server responds and has printed the first token.
 * @param {Promise<unknown>} ended
 * @param {() => string} output
 */
async function waitForServer(ended, output) {
  let isOver = false
  ended.then(() => {
    isOver = true
  })
  for (const until = Date.now() + startMsMax; Date.now() < until && !isOver; ) {
    const response = await fetch(`${address}/readyz`).catch(() => undefined)
    if (response?.ok && /^ +docs +http/m.test(output())) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(isOver ? "npm start has ended" : `no server at ${address} after ${startMsMax} ms`)
}

/**
 * @param {string} output
 * @param {Machine} machine
 */
async function useServer(output, { isolation }) {
  const [, found] = /isolation +(\w+)/.exec(output) ?? []
  if (found !== isolation) throw new Error(`the isolation is ${found}, not ${isolation}`)
  const [, token] = /token +(\S+)/.exec(output) ?? []
  const [, user] = /first user +(\S+)/.exec(output) ?? []
  const saved = await fetch(`${address}/v1/vals`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({
      name: "greet",
      type: "http",
      privacy: "public",
      code: 'export default () => new Response("Hello there")',
    }),
  })
  if (!saved.ok) throw new Error(`saving a val is ${saved.status}: ${await saved.text()}`)
  // Not with fetch, which does not let a program choose the host.
  const request = get(address, { headers: { host: `${user}-greet.localhost:8080` } })
  const [response] = await once(request, "response")
  const body = await text(response)
  if (body !== "Hello there") throw new Error(`the val responded ${response.statusCode}: ${body}`)
}

/** @param {Machine} machine */
async function tryTest(machine) {
  const child = spawnInside(machine, ["npm", "test"])
  let last = ""
  child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
    process.stdout.write(chunk)
    last = (last + chunk).slice(-1_000)
  })
  const [code] = await once(child, "exit")
  const notRun = last.match(/^not run: .*/gm) ?? []
  if (code !== 0) throw new Error(`npm test ended with ${code}`)
  if (machine.userId === 0 && notRun.length > 0) throw new Error(notRun.join("; "))
}
