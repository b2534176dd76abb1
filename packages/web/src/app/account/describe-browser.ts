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

/** Browser and system of a user agent, as far as it names them. */
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
