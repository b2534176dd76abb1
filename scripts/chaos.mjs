// npm run chaos: the long versions of the chaos, stream and backup tests, without a time limit.
// npm run chaos -- schedules: that of the test of schedules on several nodes.
// npm run chaos -- files: random changes of files against a model, and kills of the server.
// npm run chaos -- folders: a folder of 300 files, and kills of the server and of the command line.
// npm run chaos -- pause: a node that is paused for longer than its lease.
// npm run chaos -- restarts: nodes behind a proxy that are restarted one after the other.
// npm run chaos -- upgrade: nodes behind a proxy that are upgraded from the release before, and back.
// npm run chaos -- cluster: three nodes behind a proxy, and every fault of nodes, databases and network.
import { runTests } from "./testing/run.mjs"

const args = process.argv.slice(2)
const [name, ...rest] = args
if (name === "schedules") process.exitCode = await runSchedules(rest)
else if (name === "files") process.exitCode = await runFiles(rest)
else if (name === "restarts") process.exitCode = await runRestarts(rest)
else if (name === "upgrade") process.exitCode = await runUpgrade(rest)
else if (name === "folders") process.exitCode = await runFolders(rest)
else if (name === "pause") process.exitCode = await runPause(rest)
else if (name === "cluster") process.exitCode = await runCluster(rest)
else process.exitCode = await runAll(args)

/** @param {string[]} args */
function runAll([guests = "300", servers = "50", ...args]) {
  assertCounts([guests, servers], "of guests and of servers, as in npm run chaos -- 300 50")
  const files = [
    "./packages/server/test/chaos/chaos.test.ts",
    "./packages/server/test/attacks/streams.test.ts",
    "./packages/server/test/backup/write-load.test.ts",
  ]
  return runLong([...args, ...files], {
    HAMLET_TEST_BACKUPS: "50",
    HAMLET_CHAOS: "long",
    HAMLET_CHAOS_GUESTS: guests,
    HAMLET_CHAOS_SERVERS: servers,
  })
}

/** @param {string[]} args */
function runSchedules([schedules = "1000", seconds = "240", ...args]) {
  assertCounts([schedules, seconds], "as in npm run chaos -- schedules 1000 240")
  return runLong([...args, "./packages/server/test/schedules/many-nodes.test.ts"], {
    HAMLET_CHAOS_SCHEDULES: schedules,
    HAMLET_CHAOS_SECONDS: seconds,
  })
}

/** @param {string[]} args */
function runFiles([steps = "10000", kills = "100", ...args]) {
  assertCounts([steps, kills], "of steps and of kills, as in npm run chaos -- files 10000 100")
  return runLong([...args, "./packages/server/test/chaos/files.chaos.ts"], {
    HAMLET_CHAOS_STEPS: steps,
    HAMLET_CHAOS_KILLS: kills,
  })
}

/** @param {string[]} args */
function runFolders([kills = "100", ...args]) {
  assertCounts([kills], "of kills, as in npm run chaos -- folders 100")
  return runLong([...args, "./packages/cli/test/chaos/folders.chaos.ts"], {
    HAMLET_CHAOS_KILLS: kills,
  })
}

/** @param {string[]} args */
function runPause(args) {
  return runLong([...args, "./packages/server/test/chaos/paused-node.chaos.ts"], {})
}

/** @param {string[]} args */
function runRestarts([restarts = "20", proxy = "haproxy", ...args]) {
  assertCounts([restarts], "as in npm run chaos -- restarts 20 nginx")
  return runLong([...args, "./packages/server/test/chaos/restarts.chaos.ts"], {
    HAMLET_CHAOS_RESTARTS: restarts,
    HAMLET_CHAOS_PROXY: proxy,
  })
}

/** @param {string[]} args */
function runUpgrade([proxy = "haproxy", ...args]) {
  return runLong([...args, "./packages/server/test/chaos/upgrade.chaos.ts"], {
    HAMLET_CHAOS_PROXY: proxy,
  })
}

/** @param {string[]} args */
function runCluster(args) {
  /** @type {Record<string, string>} */
  const env = {}
  const names = ["kills", "postgres", "libsql", "pauses", "cuts", "minutes"]
  for (let at = 0; at < args.length; at += 2) {
    const name = names.find((name) => args[at] === `--${name}`)
    if (name === undefined) {
      const flags = names.map((name) => `--${name}`).join(", ")
      console.error(`Cannot understand "${args[at]}": the options are ${flags}`)
      process.exit(2)
    }
    const count = args[at + 1] ?? ""
    assertCounts([count], "as in npm run chaos -- cluster --kills 10 --minutes 5")
    env[`HAMLET_CHAOS_${name.toUpperCase()}`] = count
  }
  return runLong(["./packages/server/test/chaos/cluster.chaos.ts"], env)
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
function runLong(args, env) {
  // bun treats 0 as no limit.
  return runTests({ parts: [["--timeout", "0", ...args]], env })
}

/**
 * @param {string[]} counts
 * @param {string} usage
 */
function assertCounts(counts, usage) {
  const wrong = counts.find((count) => !/^\d+$/.test(count))
  if (wrong === undefined) return
  console.error(`Cannot understand "${wrong}": give whole numbers, ${usage}`)
  process.exit(2)
}
