const server = "./packages/server/test"
const cli = "./packages/cli/test"

/**
 * @typedef {object} Setting How much of something a test does, or which part of it.
 * @property {string} env the variable that the test reads
 * @property {string} [whole] its value in a whole run; the test has one of its own for a brief run
 * @property {true} [isText] anything but a whole number
 */

/**
 * @typedef {object} LongTest
 * @property {string[]} files
 * @property {string[]} [briefFiles] where a brief run has others
 * @property {Record<string, string>} [wholeEnv] what tells the test that it may take long
 * @property {Record<string, Setting>} [settings] by the name of the option
 */

/**
 * The tests that are random, or take long. Together they take at most 90 minutes on two quiet cores,
 * and about a minute each in a brief run.
 * @type {Readonly<Record<string, LongTest>>}
 */
export const longTests = {
  /** Random requests, also over sockets. */
  fuzz: {
    files: [`${server}/fuzz.long.ts`, `${server}/fuzz-sockets.long.ts`],
    settings: { requests: { env: "HAMLET_FUZZ_REQUESTS", whole: "100000" } },
  },
  /** Sequences of requests, changes of files and steps of folders, whose results a model predicts. */
  model: {
    files: [
      `${server}/model.long.ts`,
      `${server}/files-model.long.ts`,
      `${server}/blobs-model.long.ts`,
      `${cli}/suites/watch-model.long.ts`,
    ],
    settings: {
      runs: { env: "HAMLET_MODEL_RUNS", whole: "100" },
      steps: { env: "HAMLET_TEST_WATCH_STEPS", whole: "1000" },
    },
  },
  /** Every way into the server with the input that keeps it busy longest. */
  freeze: {
    files: [`${server}/freeze/freeze.long.ts`],
    settings: { doors: { env: "HAMLET_FREEZE_DOORS", isText: true } },
  },
  /** Every way into the server with its largest legal input, in five manners, beside another user. */
  worst: {
    files: [`${server}/worst/every-door.long.ts`],
    briefFiles: [`${server}/worst/known-doors.long.ts`],
    settings: {
      doors: { env: "HAMLET_WORST_DOORS", isText: true },
      manners: { env: "HAMLET_WORST_MANNERS", isText: true },
      database: { env: "HAMLET_WORST_DATABASE", isText: true },
    },
  },
  /** APIs in vals, vals in the style of Val Town, and packages as the npm registry has them today. */
  compat: {
    files: [
      `${server}/compat/compat.long.ts`,
      `${server}/reach/packages.long.ts`,
      `${server}/reach/town-vals.long.ts`,
      "./packages/npm/src/testing/real-packages.long.ts",
    ],
  },
  /** Nodes of the release before beside nodes of this one, and the way from one to the other. */
  upgrade: {
    files: [`${server}/upgrade/previous-release.long.ts`, `${server}/chaos/upgrade.long.ts`],
    briefFiles: [`${server}/upgrade/previous-release.long.ts`],
    settings: { proxy: { env: "HAMLET_CHAOS_PROXY", isText: true } },
  },
  /** Guests and servers that are killed amid their work, large streams, and backups during writes. */
  kills: {
    files: [
      `${server}/chaos/kills.long.ts`,
      `${server}/process/killed.long.ts`,
      `${server}/process/idempotency.long.ts`,
      `${server}/process/sql-idempotency.long.ts`,
      `${server}/process/limits.long.ts`,
      `${server}/attacks/streams.long.ts`,
      `${server}/backup/write-load.long.ts`,
    ],
    wholeEnv: { HAMLET_CHAOS: "long" },
    settings: {
      guests: { env: "HAMLET_CHAOS_GUESTS", whole: "100" },
      servers: { env: "HAMLET_CHAOS_SERVERS", whole: "20" },
      backups: { env: "HAMLET_TEST_BACKUPS", whole: "20" },
    },
  },
  /** Mail to a server that is killed again and again. */
  mail: {
    files: [`${server}/mail/killed.long.ts`],
    settings: {
      mails: { env: "HAMLET_TEST_MAILS", whole: "300" },
      kills: { env: "HAMLET_TEST_MAIL_KILLS", whole: "10" },
    },
  },
  /** Schedules on nodes with wrong clocks, which are killed. */
  schedules: {
    files: [`${server}/schedules/many-nodes.long.ts`],
    settings: {
      schedules: { env: "HAMLET_CHAOS_SCHEDULES", whole: "1000" },
      seconds: { env: "HAMLET_CHAOS_SECONDS", whole: "120" },
    },
  },
  /** Random changes of files against a model, and kills of the server. */
  files: {
    files: [`${server}/chaos/files.long.ts`],
    settings: {
      steps: { env: "HAMLET_CHAOS_STEPS", whole: "2000" },
      kills: { env: "HAMLET_CHAOS_KILLS", whole: "20" },
    },
  },
  /** A folder of 300 files, and kills of the server and of the command line. */
  folders: {
    files: [`${cli}/chaos/folders.long.ts`],
    settings: { kills: { env: "HAMLET_CHAOS_KILLS", whole: "20" } },
  },
  /** A node that is paused for longer than its lease. */
  pause: { files: [`${server}/chaos/paused-node.long.ts`] },
  /** Nodes behind a proxy that are restarted one after the other. */
  restarts: {
    files: [`${server}/chaos/restarts.long.ts`],
    settings: {
      restarts: { env: "HAMLET_CHAOS_RESTARTS", whole: "10" },
      proxy: { env: "HAMLET_CHAOS_PROXY", isText: true },
    },
  },
  /** Three nodes behind a proxy, and every fault of nodes, databases and network. */
  cluster: {
    files: [`${server}/chaos/cluster.long.ts`],
    settings: {
      ...Object.fromEntries(
        ["kills", "postgres", "libsql", "pauses", "cuts", "refusals", "files"].map((name) => [
          name,
          { env: `HAMLET_CHAOS_${name.toUpperCase()}` },
        ]),
      ),
      minutes: { env: "HAMLET_CHAOS_MINUTES", whole: "10" },
    },
  },
  /** The benchmarks, each tried once. */
  bench: { files: ["./scripts/bench.long.ts"] },
}

/** Without quiet cores, these measure the others: a brief run leaves them out. */
const wholeOnly = new Set(["cluster", "restarts"])

/**
 * @typedef {object} Chosen
 * @property {{ files: string[], env: Record<string, string> }[]} tests
 * @property {boolean} isBrief
 * @property {string} seed
 */

/**
 * What the arguments of `npm run long-test` ask for.
 * @param {readonly string[]} args
 * @param {() => number} random
 * @returns {Chosen}
 */
export function chooseLongTests(args, random = Math.random) {
  const { names, options, isBrief } = readArguments(args)
  const { seed = String(Math.trunc(random() * 0x7fffffff)), ...wanted } = options
  assertNumber("seed", seed)
  const chosen = names.length > 0 ? names : Object.keys(longTests).filter(isIncluded(isBrief))
  const settings = chosen.map((name) => findTest(name).settings ?? {})
  for (const [name, value] of Object.entries(wanted)) {
    const known = settings.flatMap((it) => it[name] ?? [])
    const all = settings.flatMap((it) => Object.keys(it))
    if (known.length === 0) fail(`use "--${name}": the options are ${toOptions(all)}`)
    if (known.some(({ isText }) => !isText)) assertNumber(name, value)
  }
  const tests = chosen.map((name) => toRun(findTest(name), wanted, isBrief, seed))
  return { tests, isBrief, seed }
}

/** @param {boolean} isBrief */
const isIncluded = (isBrief) => (/** @type {string} */ name) => !isBrief || !wholeOnly.has(name)

/**
 * @param {LongTest} test
 * @param {Record<string, string>} wanted
 * @param {boolean} isBrief
 * @param {string} seed
 */
function toRun(test, wanted, isBrief, seed) {
  const settings = Object.entries(test.settings ?? {}).flatMap(([name, { env, whole }]) => {
    const value = wanted[name] ?? (isBrief ? undefined : whole)
    return value === undefined ? [] : [[env, value]]
  })
  return {
    files: (isBrief && test.briefFiles) || test.files,
    env: {
      HAMLET_TEST_SEED: seed,
      ...(isBrief ? {} : test.wholeEnv),
      ...Object.fromEntries(settings),
    },
  }
}

/** @param {readonly string[]} args */
function readArguments(args) {
  /** @type {string[]} */
  const names = []
  /** @type {Record<string, string>} */
  const options = {}
  let isBrief = false
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? ""
    if (arg === "--brief") isBrief = true
    else if (arg.startsWith("--")) {
      at += 1
      options[arg.slice(2)] = args[at] ?? fail(`use "${arg}": it has no value`)
    } else names.push(arg)
  }
  return { names, options, isBrief }
}

/** @param {string} name */
function findTest(name) {
  const test = Object.hasOwn(longTests, name) ? longTests[name] : undefined
  return test ?? fail(`run "${name}": the tests are ${Object.keys(longTests).join(", ")}`)
}

/** @param {readonly string[]} names */
function toOptions(names) {
  return ["brief", "seed", ...new Set(names)].map((name) => `--${name}`).join(", ")
}

/**
 * @param {string} name
 * @param {string} text
 */
function assertNumber(name, text) {
  if (!/^[1-9]\d*$/.test(text)) fail(`use "--${name} ${text}": give a whole number from 1 on`)
}

/**
 * @param {string} problem
 * @returns {never}
 */
function fail(problem) {
  throw new Error(`Cannot ${problem}`)
}
