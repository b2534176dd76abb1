import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { ValList } from "../parts/val-list.tsx"

/** What somebody sees who is not signed in: what this is, and what others have made with it. */
export function Landing() {
  const latest = usePages("listVals", { privacy: "public" }, 20)
  return (
    <>
      <div class="hero">
        <h1>Small programs, running</h1>
        <p>
          Write a function, save it, and it has a web address. Every version is kept, every run is
          recorded with its logs, and code runs in a sandbox of its own.
        </p>
        <p class="hero-actions">
          <a class="button" href="/sign-in">
            Sign in
          </a>
          <a class="button button-quiet" href="/search">
            Look around
          </a>
        </p>
      </div>
      <section class="section" aria-labelledby="latest">
        <div class="section-head">
          <h2 id="latest">Latest public vals</h2>
        </div>
        <Loaded of={latest.state} onRetry={latest.reload} skeleton={<Bars count={5} kind="row" />}>
          {({ items }) =>
            items.length > 0 ? (
              <ValList vals={items} />
            ) : (
              <EmptyState icon="globe" title="Nothing is public yet">
                <p>Public vals of everybody on this server appear here.</p>
              </EmptyState>
            )
          }
        </Loaded>
        <MoreButton list={latest} />
      </section>
    </>
  )
}
