// npm run bench: runs the benchmarks in bench/, with a PostgreSQL that syncs to disk as in
// production.
import { runInForeground } from "./child.mjs"
import { startPostgres } from "./postgres.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { findOnPath } from "./setup/programs.mjs"
import { bun, root } from "./setup/root.mjs"
import { ensureSystemPackages, requirements } from "./setup/system-packages.mjs"

const wrk = {
  name: "wrk",
  debianPackage: "wrk",
  suites:
    "loads that leave most of the machine to the server (a client of ours takes the place of wrk)",
  find: () => findOnPath("wrk"),
}

await ensurePackages({ dev: true })
await ensureSystemPackages([requirements.postgres, requirements.bubblewrap, wrk])
const bin = requirements.postgres.find()
const postgres = bin ? await startPostgres({ bin, fsync: true }) : undefined
const found =
  postgres && bin ? { HAMLET_TEST_POSTGRES_URL: postgres.url, HAMLET_TEST_POSTGRES_BIN: bin } : {}
try {
  const env = { ...process.env, ...found }
  process.exitCode = await runInForeground(bun, ["bench/main.ts", ...process.argv.slice(2)], {
    cwd: root,
    env,
  })
} finally {
  await postgres?.stop()
}
