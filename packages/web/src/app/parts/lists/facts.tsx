/** A name, a text and perhaps a link. A fact without a text is not shown. */
export type Fact = readonly [name: string, text: string | null | undefined, href?: string]

/** What is known about something, as a list of names and texts. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, text, href]) =>
        text ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{href ? <a href={href}>{text}</a> : text}</dd>
          </div>
        ) : null,
      )}
    </dl>
  )
}
