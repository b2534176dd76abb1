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

/** Where modules of vals come from when they were written for another service. */
const otherModules = "https://esm.town/v/"

let ownModules: string | undefined
let ownPackages: string | undefined
let addresses: RegExp | undefined
let packages: RegExp | undefined
let missingPackages: RegExp | undefined

/** From here on the modules beside `url`, which is that of the val, are called after their vals. */
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

/** `http://localhost:8080/v/` of `http://localhost:8080/v/ada/hello@3`. */
function moduleRootOf(url: string): string {
  const valAt = stringLastIndexOf(url, "/")
  return stringSlice(url, 0, stringLastIndexOf(url, "/", valAt - 1) + 1)
}

/** Whether a module at that address would be a val. */
export function isModuleOfVal(url: string): boolean {
  return (
    stringStartsWith(url, otherModules) ||
    (ownModules !== undefined && stringStartsWith(url, ownModules))
  )
}

/**
 * The text with `ada/hello.tsx` for each address of a module, what the code says for that of a
 * package, and where the code says it for that of one that is not there.
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
 * The stack as its author knows it: the val's files by their names, and none of the frames of Deno
 * and the guest.
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

/** A text that may have a stack in it, as when an error is logged. */
export function toUserText(text: string): string {
  return stringIndexOf(text, " at ") === -1 || matchPattern(text, someFrame) === null
    ? text
    : toUserStack(text)
}

const someFrame = hardenPattern(/\n\s+at .*:\d+:\d+/)

const ourModule = import.meta.url

function isOurs(location: string): boolean {
  return (
    stringStartsWith(location, "ext:") ||
    stringStartsWith(location, "node:") ||
    stringStartsWith(location, "checkin:") ||
    stringStartsWith(location, ourModule) ||
    // What stands between a val and a package; where there is none it tells of the import.
    (ownPackages !== undefined &&
      stringStartsWith(location, ownPackages) &&
      !stringStartsWith(location, `${ownPackages}none/`))
  )
}
