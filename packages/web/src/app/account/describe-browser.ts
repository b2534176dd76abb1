const browsers = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const

const systems = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const

/** A browser in two words, as far as it says what it is. */
export function describeBrowser(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return "A browser"
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([mark]) => userAgent.includes(mark))?.[1]
  const [browser, system] = [find(browsers), find(systems)]
  return browser === undefined
    ? userAgent.slice(0, 60)
    : system === undefined
      ? browser
      : `${browser} on ${system}`
}
