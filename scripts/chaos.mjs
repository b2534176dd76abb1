// npm run chaos: the long versions of the chaos, stream and backup tests, without a time limit.
import { runTests } from "./testing/run.mjs"

const guestsDefault = 300
const serversDefault = 50
const backups = 50
const [guests = String(guestsDefault), servers = String(serversDefault), ...args] =
  process.argv.slice(2)
for (const kills of [guests, servers])
  if (!/^\d+$/.test(kills)) {
    console.error(
      `Cannot kill "${kills}" times: give two whole numbers, of guests and of servers, as in npm run chaos -- 300 50`,
    )
    process.exit(2)
  }
process.exitCode = await runTests({
  // bun treats 0 as no limit.
  parts: [
    [
      "--timeout",
      "0",
      ...args,
      "./packages/server/test/chaos/chaos.test.ts",
      "./packages/server/test/attacks/streams.test.ts",
      "./packages/server/test/backup/write-load.test.ts",
    ],
  ],
  env: {
    HAMLET_TEST_BACKUPS: String(backups),
    HAMLET_CHAOS: "long",
    HAMLET_CHAOS_GUESTS: guests,
    HAMLET_CHAOS_SERVERS: servers,
  },
})
