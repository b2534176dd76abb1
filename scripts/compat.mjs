// npm run compat: uses packages and APIs in plain Deno and in vals, and compares. The services that
// they talk to run on this machine.
import { runInForeground } from "./child.mjs"
import { startPostgres } from "./postgres.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { findOnPath } from "./setup/programs.mjs"
import { bun, root } from "./setup/root.mjs"
import { ensureSystemPackages, requirements } from "./setup/system-packages.mjs"

/** Programs that are services, with the name of Debian's package. */
const services = [
  ["redis-server", "redis-server"],
  ["mariadbd", "mariadb-server"],
  ["mosquitto", "mosquitto"],
  ["nats-server", "nats-server"],
].map(([program = "", debianPackage = ""]) => ({
  name: program,
  debianPackage,
  suites: `the packages that talk to ${program}`,
  find: () => findOnPath(program),
}))

await ensurePackages({ dev: true })
await ensureSystemPackages([requirements.postgres, requirements.bubblewrap, ...services])
const bin = requirements.postgres.find()
const postgres = bin ? await startPostgres({ bin, fsync: false }) : undefined
try {
  const env = {
    ...process.env,
    ...(postgres ? { HAMLET_TEST_POSTGRES_URL: postgres.url } : {}),
  }
  process.exitCode = await runInForeground(
    bun,
    ["bench/compat/main.ts", ...process.argv.slice(2)],
    { cwd: root, env },
  )
} finally {
  await postgres?.stop()
}
