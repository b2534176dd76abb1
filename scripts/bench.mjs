// npm run bench, compat, soak: a program of bench/ with the services that it uses. The benchmarks
// have a PostgreSQL that syncs to disk as in production.
import { runInForeground } from "./child.mjs"
import { startPostgres } from "./postgres.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { findOnPath } from "./setup/programs.mjs"
import { bun, root } from "./setup/root.mjs"
import { ensureSystemPackages, requirements } from "./setup/system-packages.mjs"

/**
 * @param {string} name
 * @param {string} debianPackage
 * @param {string} suites
 */
const toRequirement = (name, debianPackage, suites) => ({
  name,
  debianPackage,
  suites,
  find: () => findOnPath(name),
})
/** @param {string} name */
const toService = (name, debianPackage = name) =>
  toRequirement(name, debianPackage, `the packages that talk to ${name}`)

const load =
  "loads that leave most of the machine to the server (a client of ours takes the place of wrk)"
const { postgres, bubblewrap } = requirements
/** @typedef {import("./setup/system-packages.mjs").Requirement} Requirement */
/** @type {Record<"bench" | "compat" | "soak", { file: string, needs: Requirement[] }>} */
const programs = {
  bench: { file: "bench/main.ts", needs: [postgres, toRequirement("wrk", "wrk", load)] },
  compat: {
    file: "bench/compat/main.ts",
    needs: [
      postgres,
      toService("redis-server"),
      toService("mariadbd", "mariadb-server"),
      toService("mosquitto"),
      toService("nats-server"),
    ],
  },
  soak: { file: "bench/soak/main.ts", needs: [] },
}

const [name = "", ...args] = process.argv.slice(2)
const { file, needs: services } = programs[/** @type {keyof typeof programs} */ (name)]
// The usage needs none.
const needs = args.includes("--help") ? [] : [...services, bubblewrap]
await ensurePackages({ dev: true })
await ensureSystemPackages(needs)
const bin = needs.includes(postgres) ? postgres.find() : undefined
const started = bin ? await startPostgres({ bin, fsync: name === "bench" }) : undefined
const found =
  started && bin ? { HAMLET_TEST_POSTGRES_URL: started.url, HAMLET_TEST_POSTGRES_BIN: bin } : {}
try {
  const env = { ...process.env, ...found }
  process.exitCode = await runInForeground(bun, [file, ...args], { cwd: root, env })
} finally {
  await started?.stop()
}
