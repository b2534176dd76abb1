import {
  arrayJoin,
  arrayPush,
  hardenPattern,
  matchPattern,
  replacePattern,
  splitLines,
  stringIndexOf,
  stringSlice,
  stringStartsWith,
} from "../primordials.ts"
import { guestScript } from "../protocol.ts"

/** Where modules of vals come from that were written for another service. */
const otherModules = "https://esm.town/v/"

/** The main module of the process. It awaits the guest, and a val is told another one. */
const ownMain = Deno.mainModule
let ownModules: string | undefined
let ownPackages: string | undefined
let entries: RegExp | undefined
let files: RegExp | undefined
let server: string | undefined
let packages: RegExp | undefined
let missingPackages: RegExp | undefined

/**
 * From here on, modules below `root`, which ends with `/v/`, are shown by the names of their vals and
 * files.
 */
export function nameModulesBelow(root: string): void {
  ownModules = root
  server = stringSlice(ownModules, 0, stringIndexOf(ownModules, "/", "https://".length) + 1)
  ownPackages = `${stringSlice(ownModules, 0, -"v/".length)}packages/`
  packages = hardenPattern(new RegExp(`${RegExp.escape(ownPackages)}\\w+/\\d+/([^\\s"']+)`, "g"))
  missingPackages = hardenPattern(
    new RegExp(
      `${RegExp.escape(ownPackages)}none/[\\w-]+/([^\\s"':]+)(:\\d+:\\d+)/[^\\s"')]*`,
      "g",
    ),
  )
  const prefixes = [ownModules, otherModules].map((text) => RegExp.escape(text))
  const val = `(?:${prefixes.join("|")})@?([\\w-]+)/([\\w-]+)(?:@[^\\s/:"'?#)]*)?`
  const query = `(?:[?#][^\\s:"')]*)?`
  entries = hardenPattern(new RegExp(`${val}(?:/main\\.tsx)?(?![\\w/@-]|\\.\\w)${query}`, "g"))
  files = hardenPattern(new RegExp(`${val}/([^\\s:"'?#)]+)${query}`, "g"))
}

/** Whether a module at this URL is a val. */
export function isModuleOfVal(url: string): boolean {
  return (
    stringStartsWith(url, otherModules) ||
    (ownModules !== undefined && stringStartsWith(url, ownModules))
  )
}

/** The path of a URL of this server, from its root on; undefined for other URLs. */
export function findServerPath(url: string): string | undefined {
  return server !== undefined && stringStartsWith(url, server)
    ? stringSlice(url, server.length - 1)
    : undefined
}

/**
 * Replaces URLs of modules by `ada/hello.tsx` for the file main.tsx and by `ada/hello/lib/db.ts` for
 * others, those of packages by their specifier, and those of missing packages by the location of the
 * import.
 */
export function nameModules(text: string): string {
  if (
    entries === undefined ||
    files === undefined ||
    packages === undefined ||
    missingPackages === undefined
  )
    return text
  const named = replacePattern(replacePattern(text, entries, "$1/$2.tsx"), files, "$1/$2/$3")
  return replacePattern(replacePattern(named, packages, "$1"), missingPackages, "$1$2")
}

/** `    at name (location)`, `    at async location` and so on; the group is the location. */
const frame = hardenPattern(/^\s+at (?:.*\((?=[^(]*\)$))?(?:async )?([^\s()][^()]*)\)?$/)

/**
 * The stack for the author of the val: with the names of its files, and without frames of Deno and
 * the guest.
 */
export function toUserStack(stack: string): string {
  const lines = splitLines(stack)
  const kept: string[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as string
    const location = matchPattern(line, frame)?.[1]
    if (location === undefined) arrayPush(kept, line)
    else if (!isOurs(location)) arrayPush(kept, nameModules(line))
  }
  return arrayJoin(kept, "\n")
}

/** Cleans a text that may contain a stack, such as a logged error. */
export function toUserText(text: string): string {
  return stringIndexOf(text, " at ") === -1 || matchPattern(text, someFrame) === null
    ? text
    : toUserStack(text)
}

const someFrame = hardenPattern(/\n\s+at .*:\d+:\d+/)

function isOurs(location: string): boolean {
  return (
    stringStartsWith(location, "ext:") ||
    stringStartsWith(location, "node:") ||
    stringStartsWith(location, "checkin:") ||
    stringStartsWith(location, guestScript.name) ||
    stringStartsWith(location, ownMain) ||
    // The module between a val and a package; for a missing package it shows the import.
    (ownPackages !== undefined &&
      stringStartsWith(location, ownPackages) &&
      !stringStartsWith(location, `${ownPackages}none/`))
  )
}
