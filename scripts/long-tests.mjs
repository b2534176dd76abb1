// npm run long-test -- NAME: long versions of tests, without a time limit. The table names them, their
// files and what they take, as in `npm run long-test -- chaos schedules 1000 240`. `npm run chaos`, fuzz
// and mail-flood are shorter names of three of them.
import { runTests } from "./testing/run.mjs"

const server = "./packages/server/test"

/**
 * @typedef {object} LongTest
 * @property {string[]} files
 * @property {Record<string, string>} [takes] settings in the order of the arguments, with their
 * defaults; where that is a number, a number is given
 * @property {Record<string, { env: string, isText?: true }>} [options] settings that are given by name,
 * as in `--kills 10`; a number, or a text
 * @property {Record<string, string>} [env]
 */

/** @type {Record<string, LongTest>} */
const tests = {
  /** Random requests, and sequences of them whose responses a model predicts. */
  fuzz: {
    files: ["fuzz", "fuzz-sockets", "model", "files-model"].map((it) => `${server}/${it}.test.ts`),
    takes: { HAMLET_FUZZ_REQUESTS: "1000000", HAMLET_MODEL_RUNS: "500" },
  },
  /** Mail to a server that is killed again and again: mails and kills. */
  "mail-flood": {
    files: [`${server}/mail/killed.test.ts`],
    takes: { HAMLET_TEST_MAILS: "1000", HAMLET_TEST_MAIL_KILLS: "20" },
  },
  /** Guests and servers that are killed, streams and backups. */
  chaos: {
    files: [
      `${server}/chaos/chaos.test.ts`,
      `${server}/attacks/streams.test.ts`,
      `${server}/backup/write-load.test.ts`,
    ],
    takes: { HAMLET_CHAOS_GUESTS: "300", HAMLET_CHAOS_SERVERS: "50" },
    env: { HAMLET_CHAOS: "long", HAMLET_TEST_BACKUPS: "50" },
  },
  /** Schedules on several nodes: how many, and for how many seconds. */
  "chaos schedules": {
    files: [`${server}/schedules/many-nodes.test.ts`],
    takes: { HAMLET_CHAOS_SCHEDULES: "1000", HAMLET_CHAOS_SECONDS: "240" },
  },
  /** Random changes of files against a model, and kills of the server. */
  "chaos files": {
    files: [`${server}/chaos/files.chaos.ts`],
    takes: { HAMLET_CHAOS_STEPS: "10000", HAMLET_CHAOS_KILLS: "100" },
  },
  /** A folder of 300 files, and kills of the server and of the command line. */
  "chaos folders": {
    files: ["./packages/cli/test/chaos/folders.chaos.ts"],
    takes: { HAMLET_CHAOS_KILLS: "100" },
  },
  /** A node that is paused for longer than its lease. */
  "chaos pause": { files: [`${server}/chaos/paused-node.chaos.ts`] },
  /** Nodes behind a proxy that are restarted one after the other. */
  "chaos restarts": {
    files: [`${server}/chaos/restarts.chaos.ts`],
    takes: { HAMLET_CHAOS_RESTARTS: "20", HAMLET_CHAOS_PROXY: "haproxy" },
  },
  /** Nodes behind a proxy that are upgraded from the release before, and back. */
  "chaos upgrade": {
    files: [`${server}/chaos/upgrade.chaos.ts`],
    takes: { HAMLET_CHAOS_PROXY: "haproxy" },
  },
  /** Three nodes behind a proxy, and every fault of nodes, databases and network. */
  "chaos cluster": {
    files: [`${server}/chaos/cluster.chaos.ts`],
    options: Object.fromEntries(
      ["kills", "postgres", "libsql", "pauses", "cuts", "refusals", "files", "minutes"].map(
        (name) => [name, { env: `HAMLET_CHAOS_${name.toUpperCase()}` }],
      ),
    ),
  },
  /** Every way into the server with its largest input, in five manners, beside another user. */
  worst: {
    files: [`${server}/worst/every-door.long.ts`],
    options: {
      doors: { env: "HAMLET_WORST_DOORS", isText: true },
      manners: { env: "HAMLET_WORST_MANNERS", isText: true },
      database: { env: "HAMLET_WORST_DATABASE", isText: true },
      seed: { env: "HAMLET_TEST_SEED" },
    },
  },
}

const [first = "", second = "", ...others] = process.argv.slice(2)
const named = tests[`${first} ${second}`]
const rest = named ? others : process.argv.slice(3)
const { files, takes = {}, options, env = {} } = named ?? tests[first] ?? fail(`run "${first}"`)
const given = options ? readOptions(options, rest) : readArguments(takes, rest)
process.exitCode = await runTests({
  // bun treats 0 as no limit.
  parts: files.map((file) => ["--timeout", "0", ...given.args, file]),
  env: { ...env, ...given.env },
})

/**
 * @param {Record<string, string>} takes
 * @param {string[]} args
 */
function readArguments(takes, args) {
  const env = Object.entries(takes).map(([name, standard], index) => {
    const value = args[index] ?? standard
    if (!isNumber(standard)) return [name, value]
    if (Number(value) === 0) fail(`run 0 of ${name}: nothing would be tested`)
    return [name, assertNumber(value)]
  })
  return { env: Object.fromEntries(env), args: args.slice(env.length) }
}

/**
 * @param {NonNullable<LongTest["options"]>} options
 * @param {string[]} args
 */
function readOptions(options, args) {
  /** @type {Record<string, string>} */
  const env = {}
  for (let at = 0; at < args.length; at += 2) {
    const [, option] =
      Object.entries(options).find(([name]) => args[at] === `--${name}`) ??
      fail(`use "${args[at]}": the options are --${Object.keys(options).join(", --")}`)
    const value = args[at + 1] ?? fail(`use "${args[at]}": it has no value`)
    env[option.env] = option.isText ? value : assertNumber(value)
  }
  return { env, args: [] }
}

/** @param {string} text */
function isNumber(text) {
  return /^\d+$/.test(text)
}

/** @param {string} text */
function assertNumber(text) {
  if (isNumber(text)) return text
  const names = Object.keys(tests).flatMap((name) => name.split(`${first} `)[1] ?? [])
  const orName = names.length > 0 ? `, or one of ${names.join(", ")}` : ""
  return fail(`read "${text}": give a whole number${orName}`)
}

/**
 * @param {string} problem
 * @returns {never}
 */
function fail(problem) {
  console.error(`Cannot ${problem}`)
  process.exit(2)
}
