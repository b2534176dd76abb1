import { EmptyState, useTitle } from "../../ui/page-states.tsx"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages, withoutTexts } from "../data/pages.ts"
import { MyHome } from "../home/my-home.tsx"
import { ValList } from "../parts/lists/val-list.tsx"
import { Section } from "../parts/section.tsx"
import { currentOwner } from "../session/owners.ts"

/** The home page: the vals of the current owner, or the landing page. */
export function Page() {
  useTitle(undefined)
  const owner = currentOwner()
  return owner ? <MyHome username={owner.username} /> : <Landing />
}

/** The home page of signed-out visitors: what Hamlet is, and public vals. */
function Landing() {
  const latest = usePages("listVals", { sort: "trend", ...withoutTexts }, 20)
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
            Explore
          </a>
        </p>
      </div>
      <Section title="Trending">
        <LoadedPages
          of={latest}
          rows={5}
          empty={
            <EmptyState icon="globe" title="Nothing is public yet">
              <p>Public vals of all users of this server appear here.</p>
            </EmptyState>
          }
        >
          {(items) => <ValList vals={items} />}
        </LoadedPages>
      </Section>
    </>
  )
}
