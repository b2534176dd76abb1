/** An `Authorization` header such as `Bearer abc`. The scheme is in lower case. */
export interface Authorization {
  readonly scheme: string
  readonly credentials: string
}

/** Undefined for headers in another form, such as a list of parameters. */
export function parseAuthorization(header: string): Authorization | undefined {
  const [, scheme, credentials] = /^(\S+) +(\S+) *$/.exec(header) ?? []
  return scheme === undefined || credentials === undefined
    ? undefined
    : { scheme: scheme.toLowerCase(), credentials }
}
