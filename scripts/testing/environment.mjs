import { randomUUID } from "node:crypto"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { findBubblewrap } from "../setup/programs.mjs"
import { requirements } from "../setup/system-packages.mjs"
import { chooseFastFolder } from "./fast-folder.mjs"

/**
 * Code of a test rarely runs long enough to gain from being optimised: the last tier of bun's compiler
 * takes up to a third of the CPU time of a suite, and the tier before it a seventh. That one compiles
 * only what is called twenty times as often as usual.
 */
const compilerSettings = {
  BUN_JSC_useFTLJIT: "0",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "20000",
  BUN_JSC_thresholdForOptimizeAfterLongWarmUp: "20000",
  BUN_JSC_thresholdForOptimizeSoon: "20000",
}

/**
 * Creates the temporary files of one test run and the environment that suites rely on, as listed in
 * CONTRIBUTING.md.
 * @param {string | undefined} postgresUrl
 */
export function createTestEnvironment(postgresUrl) {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
  const databaseDir = mkdtempSync(join(chooseFastFolder(), "hamlet-test-"))
  const tmpDir = join(folder, "tmp")
  const notRunPath = join(folder, "not-run")
  const marker = randomUUID()
  mkdirSync(tmpDir)
  // Open to all users, as temporary folders are: tests that run as root start PostgreSQL as another
  // user.
  chmodSync(folder, 0o755)
  chmodSync(tmpDir, 0o1777)
  const env = {
    ...process.env,
    PATH: toPath(process.env.PATH),
    ...toFoundPrograms(postgresUrl),
    ...compilerSettings,
    HAMLET_TEST_DATABASE_DIR: databaseDir,
    HAMLET_TEST_NOT_RUN: notRunPath,
    HAMLET_TEST_RUN: marker,
    TMPDIR: tmpDir,
  }
  return {
    env,
    folders: [tmpDir, databaseDir],
    marker,
    readNotRun: () => readLines(notRunPath),
    remove() {
      for (const path of [folder, databaseDir]) rmSync(path, { recursive: true, force: true })
    },
  }
}

/**
 * Suites look for bubblewrap on the PATH; `npm start` may have unpacked it elsewhere.
 * @param {string} [path]
 */
function toPath(path = "") {
  const bubblewrap = findBubblewrap()
  const folder = bubblewrap && dirname(bubblewrap)
  const folders = path.split(delimiter)
  return folder === undefined || folders.includes(folder)
    ? path
    : [...folders, folder].join(delimiter)
}

/** @param {string | undefined} postgresUrl */
function toFoundPrograms(postgresUrl) {
  const found = {
    HAMLET_TEST_POSTGRES_URL: postgresUrl,
    HAMLET_TEST_POSTGRES_BIN: requirements.postgres.find(),
    HAMLET_TEST_CHROMIUM: requirements.chromium.find(),
    HAMLET_TEST_LIBFAKETIME: requirements.libfaketime.find(),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function readLines(path) {
  try {
    // Suites write the same line once per file and database.
    return [...new Set(readFileSync(path, "utf8").split("\n").filter(Boolean))]
  } catch {
    // The file is missing when every suite ran.
    return []
  }
}
