import {
  arrayJoin,
  arrayPush,
  hardenPattern,
  matchPattern,
  replacePattern,
  splitLines,
  stringIndexOf,
  stringLastIndexOf,
  stringSlice,
  stringStartsWith,
} from "../primordials.ts"
import { guestScript } from "../protocol.ts"

/** Where modules of vals come from that were written for another service. */
const otherModules = "https://esm.town/v/"

let ownModules: string | undefined
let ownPackages: string | undefined
let addresses: RegExp | undefined
let packages: RegExp | undefined
let missingPackages: RegExp | undefined

/** From here on, modules next to `url`, the val's own, are shown by the names of their vals. */
export function nameModulesBeside(url: string): void {
  ownModules = moduleRootOf(url)
  ownPackages = `${stringSlice(ownModules, 0, -"v/".length)}packages/`
  packages = hardenPattern(new RegExp(`${escapePattern(ownPackages)}\\w+/\\d+/([^\\s"']+)`, "g"))
  missingPackages = hardenPattern(
    new RegExp(`${escapePattern(ownPackages)}none/[\\w-]+/(\\w+/\\w+)(:\\d+:\\d+)/[^\\s"')]*`, "g"),
  )
  const prefixes = [ownModules, otherModules].map(escapePattern)
  addresses = hardenPattern(
    new RegExp(`(?:${prefixes.join("|")})@?(\\w+)/(\\w+)(?:@\\d+)?(?:[?#][^\\s:"')]*)?`, "g"),
  )
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
}

/** Converts `http://localhost:8080/v/ada/hello@3` to `http://localhost:8080/v/`. */
function moduleRootOf(url: string): string {
  const valAt = stringLastIndexOf(url, "/")
  return stringSlice(url, 0, stringLastIndexOf(url, "/", valAt - 1) + 1)
}

/** Whether a module at this URL is a val. */
export function isModuleOfVal(url: string): boolean {
  return (
    stringStartsWith(url, otherModules) ||
    (ownModules !== undefined && stringStartsWith(url, ownModules))
  )
}

/**
 * Replaces URLs of modules by `ada/hello.tsx`, those of packages by their specifier, and those of
 * missing packages by the location of the import.
 */
export function nameModules(text: string): string {
  if (addresses === undefined || packages === undefined || missingPackages === undefined)
    return text
  const named = replacePattern(text, addresses, "$1/$2.tsx")
  return replacePattern(replacePattern(named, packages, "$1"), missingPackages, "$1.tsx$2")
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
    // The module between a val and a package; for a missing package it shows the import.
    (ownPackages !== undefined &&
      stringStartsWith(location, ownPackages) &&
      !stringStartsWith(location, `${ownPackages}none/`))
  )
}
