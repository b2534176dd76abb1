import { type Config, ConfigError, loadConfig, options } from "../config/config.ts"
import { checkCgroups } from "./checks/check-cgroups.ts"
import { checkDataFolder } from "./checks/check-data-folder.ts"
import { checkDatabase } from "./checks/check-database.ts"
import { checkExposure } from "./checks/check-exposure.ts"
import { checkIsolation } from "./checks/check-isolation.ts"
import { checkClock, checkMemory, checkOpenFiles } from "./checks/check-machine.ts"
import { checkMail } from "./checks/check-mail.ts"
import { checkNames } from "./checks/check-names.ts"
import { checkPort } from "./checks/check-port.ts"
import { checkPrograms } from "./checks/check-programs.ts"
import { checkBucket } from "./checks/servers/check-bucket.ts"
import { checkLibsql } from "./checks/servers/check-libsql.ts"
import { checkSignIn } from "./checks/servers/check-sign-in.ts"
import { checkSmtp } from "./checks/servers/check-smtp.ts"
import { checkTraces } from "./checks/servers/check-traces.ts"
import { type Finding, failure, fine, type Status, toReason, warning, worse } from "./finding.ts"
import { doctorLimits } from "./limits.ts"

/**
 * One check. It changes nothing but an object in the bucket, which it deletes again, and may run while
 * a server runs.
 */
interface Check {
  readonly name: string
  run(config: Config): Promise<readonly Finding[]> | readonly Finding[]
}

const checks: readonly Check[] = [
  { name: "programs", run: checkPrograms },
  { name: "isolation", run: checkIsolation },
  { name: "cgroups", run: checkCgroups },
  { name: "data folder", run: checkDataFolder },
  { name: "database", run: checkDatabase },
  { name: "databases of users", run: checkLibsql },
  { name: "bucket", run: checkBucket },
  { name: "clock", run: checkClock },
  { name: "port", run: checkPort },
  { name: "exposure", run: checkExposure },
  { name: "names", run: checkNames },
  { name: "outgoing mail", run: checkSmtp },
  { name: "incoming mail", run: checkMail },
  { name: "sign-in", run: checkSignIn },
  { name: "traces", run: checkTraces },
  { name: "open files", run: checkOpenFiles },
  { name: "memory", run: checkMemory },
]

/**
 * Runs every check for a server with these settings, reports each finding, and returns the worst
 * status.
 */
export async function examine(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  report: (finding: Finding) => void,
  interruption: AbortSignal,
): Promise<Status> {
  let worst: Status = "ok"
  const tell = (finding: Finding) => {
    worst = worse(worst, finding.status)
    report(finding)
  }
  const config = loadSettings(env, flags, tell)
  // Without readable settings no other check is possible.
  if (!config) return worst
  for (const check of checks) {
    if (interruption.aborted) break
    for (const finding of await look(check, config)) tell(finding)
  }
  return worst
}

function loadSettings(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  tell: (finding: Finding) => void,
): Config | undefined {
  try {
    const config = loadConfig(env, flags)
    tell(checkSettings(env))
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    tell(failure("settings", error.message, "docs/configuration.md says what each setting may be"))
    return undefined
  }
}

/** Variables that the command line or the tests read. */
const others = /^HAMLET_(URL|CONFIG_DIR|TEST_.*)$/

/** The settings are valid. An unknown variable is probably a typing error. */
function checkSettings(env: Readonly<Record<string, string | undefined>>): Finding {
  const known = new Set<string>(options.map((option) => option.env))
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith("HAMLET_") && !known.has(name) && !others.test(name),
  )
  if (unknown.length > 0)
    return warning(
      "settings",
      `${unknown.sort().join(", ")} in the environment: no setting has that name`,
      "docs/configuration.md lists all",
    )
  const set = Object.keys(env).filter((name) => known.has(name))
  return fine(
    "settings",
    set.length === 0
      ? "the environment sets none"
      : `the environment sets ${set.sort().join(", ")}`,
  )
}

/** An error of a check becomes a finding. A check that exceeds its time limit is abandoned. */
async function look(check: Check, config: Config): Promise<readonly Finding[]> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<readonly Finding[]>((resolve) => {
    const found = `no answer after ${doctorLimits.checkMsMax / 1000} s`
    timer = setTimeout(
      () => resolve([failure(check.name, found, "look for what is stuck, and try again")]),
      doctorLimits.checkMsMax,
    )
  })
  try {
    return await Promise.race([check.run(config), patience])
  } catch (error) {
    return [
      failure(
        check.name,
        `it could not be looked at: ${toReason(error)}`,
        "mend what the sentence says, and try again",
      ),
    ]
  } finally {
    clearTimeout(timer)
  }
}
