/** Only paths of this server: a sign-in must not redirect to another host. */
export function toOwnPath(to: string | null, origin: string = location.origin): string {
  const url = URL.parse(to ?? "/", origin)
  // A path of two slashes would be read as another host.
  return url?.origin === origin && !url.pathname.startsWith("//") ? url.pathname + url.search : "/"
}
