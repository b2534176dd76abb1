/**
 * Where things are, as absolute addresses. They are built from the configured base URL, never from
 * what a client claims the host to be.
 */
export interface Links {
  readonly baseUrl: string
  user(id: string): string
  userPage(username: string): string
  val(id: string): string
  run(id: string): string
  signIn(code: string): string
  invitation(code: string): string
  valPage(username: string, name: string): string
  module(username: string, name: string): string
  endpoint(val: { readonly id: string; readonly ownerName: string; readonly name: string }): string
  /** The web address whose host begins with that label. */
  labelled(label: string): string
}

const hostLabelCharsMax = 63

/**
 * The addresses of one installation. `valsDomain` is host and port under which vals have addresses
 * of their own.
 */
export function createLinks(baseUrl: string, valsDomain: string): Links {
  const scheme = new URL(baseUrl).protocol
  const labelled = (label: string) => `${scheme}//${label}.${valsDomain}`
  return {
    baseUrl,
    user: (id) => `${baseUrl}/v1/users/${id}`,
    userPage: (username) => `${baseUrl}/u/${username}`,
    run: (id) => `${baseUrl}/v1/runs/${id}`,
    // After the hash, so that no server and no log on the way gets to see it.
    signIn: (code) => `${baseUrl}/sign-in#code=${code}`,
    invitation: (code) => `${baseUrl}/invitation#code=${code}`,
    val: (id) => `${baseUrl}/v1/vals/${id}`,
    valPage: (username, name) => `${baseUrl}/u/${username}/${name}`,
    module: (username, name) => `${baseUrl}/v/${username}/${name}`,
    endpoint(val) {
      const label = `${val.ownerName}-${val.name}`.toLowerCase()
      // A name too long for a host label is replaced by the id. Underscores stay: browsers and
      // servers take them.
      return labelled(label.length <= hostLabelCharsMax ? label : val.id.replaceAll("-", ""))
    },
    labelled,
  }
}
