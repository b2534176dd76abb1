import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chooseFastFolder } from "./testing/fast-folder.mjs"

/**
 * @typedef {{ bin: string, fsync: boolean }} PostgresOptions bin: the folder of PostgreSQL's
 * programs
 * @typedef {{ url: string, stop: () => Promise<void> }} Postgres
 */

const attemptsMax = 3
const connectionsMax = 200

/**
 * A shell that runs the server and removes its folder. It ends when its standard input closes, which
 * happens however the parent process ends, kill -9 included; no handler in that process could
 * guarantee that. It repeats the signal until the server has stopped, because background programs of
 * a shell ignore SIGINT until they set a handler. Run it as an unprivileged user: PostgreSQL refuses
 * to run as root.
 */
const keeper = `
  exec 3<&0
  "$BIN/initdb" -D "$DIR/data" -U hamlet -A trust -E UTF8 --locale="$LOCALE" --no-sync >"$DIR/initdb.log" 2>&1 || {
    cat "$DIR/initdb.log" >&2; rm -rf -- "$DIR"; exit 1
  }
  "$BIN/postgres" -D "$DIR/data" "$@" </dev/null 3<&- &
  server=$!
  ( read -r _ <&3; while kill -INT "$server" 2>/dev/null; do sleep 0.1; done ) &
  wait "$server"
  rm -rf -- "$DIR"
`

/**
 * Starts an empty PostgreSQL on a free port of the loopback address.
 * @param {PostgresOptions} options
 * @returns {Promise<Postgres>}
 */
export async function startPostgres(options) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToStart(options, await findFreePort())
    } catch (error) {
      // Another process can take the port between finding it and PostgreSQL binding it.
      if (attempt === attemptsMax) throw error
    }
  }
}

/**
 * @param {PostgresOptions} options
 * @param {number} port
 * @returns {Promise<Postgres>}
 */
async function tryToStart(options, port) {
  const user = findUnprivilegedUser()
  const folder = createFolder(user, options.fsync)
  const locale = process.platform === "darwin" ? "C" : "C.UTF-8"
  const child = spawn("sh", ["-c", keeper, "keeper", ...toServerArguments(options, folder, port)], {
    ...user,
    cwd: folder,
    // In its own session, so that Ctrl-C reaches the tests first, and the database stops after
    // them.
    detached: true,
    env: { PATH: process.env.PATH, BIN: options.bin, DIR: folder, LOCALE: locale },
    stdio: ["pipe", "ignore", "pipe"],
  })
  const hasEnded = once(child, "exit")
  const stop = async () => {
    child.stdin.end()
    await hasEnded
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await waitUntilReady(child)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `postgres://hamlet@127.0.0.1:${port}/postgres`, stop }
}

/**
 * @param {PostgresOptions} options
 * @param {string} folder
 * @param {number} port
 */
function toServerArguments(options, folder, port) {
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: folder,
    max_connections: connectionsMax,
    fsync: options.fsync ? "on" : "off",
    full_page_writes: options.fsync ? "on" : "off",
    ...(options.fsync ? {} : { max_wal_size: "256MB" }),
    // Tests cause many refused statements; LOG still includes the line that the server is ready.
    log_min_messages: "log",
    lc_messages: "C",
  }
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
}

/** @param {import("node:child_process").ChildProcessByStdio<import("node:stream").Writable, null, import("node:stream").Readable>} child */
function waitUntilReady(child) {
  return new Promise((resolve, reject) => {
    let log = ""
    child.stderr.setEncoding("utf8")
    child.stderr.on("data", (/** @type {string} */ text) => {
      log = (log + text).slice(-10_000)
      if (log.includes("ready to accept connections")) resolve(undefined)
    })
    child.once("error", reject)
    child.once("close", () => reject(new Error(`Cannot start PostgreSQL: it ended with\n${log}`)))
  })
}

/**
 * Root starts PostgreSQL as Debian's postgres user, or else as `nobody`; others start it as
 * themselves.
 * @returns {{ uid?: number, gid?: number }}
 */
function findUnprivilegedUser() {
  if (process.getuid?.() !== 0) return {}
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = [idOf("-u", name), idOf("-g", name)]
    if (uid !== undefined && gid !== undefined) return { uid, gid }
  }
  throw new Error(
    "Cannot start PostgreSQL as root: this machine has neither a user postgres nor a user nobody",
  )
}

/**
 * @param {"-u" | "-g"} kind
 * @param {string} user
 */
function idOf(kind, user) {
  const id = spawnSync("id", [kind, user], { encoding: "utf8" })
  return id.status === 0 ? Number(id.stdout) : undefined
}

/**
 * A server that need not survive a crash has its files in memory: tests create a thousand databases
 * of hundreds of files each, and a busy disk takes a second for one of them.
 * @param {{ uid?: number, gid?: number }} user
 * @param {boolean} isOnDisk
 */
function createFolder(user, isOnDisk) {
  const parent = isOnDisk ? tmpdir() : chooseFastFolder()
  const folder = mkdtempSync(join(parent, "hamlet-postgres-"))
  chmodSync(folder, 0o700)
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  return folder
}

/** @returns {Promise<number>} */
async function findFreePort() {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  if (address === null || typeof address === "string") throw new Error("Cannot find a free port")
  return address.port
}
