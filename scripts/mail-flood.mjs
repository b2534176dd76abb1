// npm run mail-flood: mail to a server that is killed again and again, without a time limit.
import { runTests } from "./testing/run.mjs"

const mailsDefault = 1_000
const killsDefault = 20
const [mails = String(mailsDefault), kills = String(killsDefault), ...args] = process.argv.slice(2)
for (const count of [mails, kills])
  if (!/^\d+$/.test(count)) {
    console.error(
      `Cannot count to "${count}": give two whole numbers, of mails and of kills, as in npm run mail-flood -- 1000 20`,
    )
    process.exit(2)
  }
process.exitCode = await runTests({
  // bun treats 0 as no limit.
  parts: [["--timeout", "0", ...args, "./packages/server/test/mail/killed.test.ts"]],
  env: { HAMLET_TEST_MAILS: mails, HAMLET_TEST_MAIL_KILLS: kills },
})
