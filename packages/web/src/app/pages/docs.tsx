import { useMemo } from "preact/hooks"
import { EmptyState, useTitle } from "../../ui/page-states.tsx"
import { Loaded, NotFound } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { DocText } from "../documentation/doc-text.tsx"
import { type DocSection, findSections } from "../documentation/find-sections.ts"
import { type DocPage, loadPages } from "../documentation/load-pages.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import type { PageProps } from "../page-props.ts"
import { markHits } from "../search/find-hits.ts"
import { SearchBox } from "../search/search-box.tsx"

const limits = { queryCharsMax: 100 }

/** A page of the documentation, beside the list of all pages and a search through them. */
export function Page({ section: name = "" }: PageProps) {
  const pages = useResource("docs", loadPages)
  return <Loaded of={pages}>{(all) => <Docs pages={all} name={name} />}</Loaded>
}

function Docs({ pages, name }: { pages: readonly DocPage[]; name: string }) {
  const { query, hash } = currentLocation.value
  const text = (query.get("q") ?? "").slice(0, limits.queryCharsMax)
  const page = pages.find((it) => it.name === name)
  useTitle(page?.title ?? "Not found")
  return (
    <div class="docs">
      <aside class="docs-side">
        <search>
          <SearchBox
            label="Search the documentation"
            placeholder="Search the docs"
            charsMax={limits.queryCharsMax}
            value={text}
            onChange={(q) => setQuery({ q })}
          />
        </search>
        <PageList pages={pages} name={name} />
      </aside>
      <article class="docs-text">
        {text.trim() !== "" ? (
          <Hits pages={pages} query={text} />
        ) : page ? (
          <>
            <DocText text={page.text} heading={decodeHash(hash)} />
            <p class="small docs-end">
              <a href={`/docs/${page.name}.md`}>As Markdown</a>
            </p>
          </>
        ) : (
          <NotFound />
        )}
      </article>
    </div>
  )
}

function PageList({ pages, name }: { pages: readonly DocPage[]; name: string }) {
  const groups = [...new Set(pages.map(({ group }) => group))]
  return (
    <nav class="docs-pages" aria-label="Documentation">
      {groups.map((group) => (
        <div key={group}>
          <h2>{group}</h2>
          <ul>
            {pages
              .filter((page) => page.group === group)
              .map((page) => (
                <li key={page.name}>
                  <a
                    href={`/docs/${page.name}`}
                    {...(page.name === name ? { "aria-current": "page" as const } : {})}
                  >
                    {page.title}
                  </a>
                </li>
              ))}
            {group === "Tools" ? (
              <li>
                <a href="/docs">API reference</a>
              </li>
            ) : null}
          </ul>
        </div>
      ))}
    </nav>
  )
}

function Hits({ pages, query }: { pages: readonly DocPage[]; query: string }) {
  const sections = useMemo(() => findSections(pages, query), [pages, query])
  if (sections.length === 0)
    return (
      <EmptyState icon="search" title="No page matches">
        <p>Every word must occur in a section. Try fewer words.</p>
      </EmptyState>
    )
  return (
    <>
      <h1>Search</h1>
      <ul class="docs-hits">
        {sections.map((section) => (
          <Hit key={section.href} section={section} query={query} />
        ))}
      </ul>
    </>
  )
}

function Hit({ section, query }: { section: DocSection; query: string }) {
  const { page, title, href, line } = section
  const [first = ""] = query.trim().split(/\s+/)
  return (
    <li>
      <a href={href}>{title === page.title ? title : `${page.title}: ${title}`}</a>
      <p class="small">
        {markHits(line, first).map(({ text, isHit }, index) =>
          isHit ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>,
        )}
      </p>
    </li>
  )
}

function decodeHash(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return ""
  }
}
