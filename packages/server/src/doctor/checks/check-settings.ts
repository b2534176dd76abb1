import { options } from "../../config/config.ts"
import { type Finding, fine, warning } from "../finding.ts"

/** Variables that the command line or the tests read. */
const others = /^HAMLET_(URL|CONFIG_DIR|TEST_.*)$/

/** The settings are valid. An unknown variable is probably a typing error. */
export function checkSettings(env: Readonly<Record<string, string | undefined>>): Finding {
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
