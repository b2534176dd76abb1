import { documentPath, loadDocument } from "../operations/document.ts"
import { PageTitle } from "./page-title.tsx"

/** While the description is on its way: the outline of what will stand here. */
export function LoadingPage() {
  return (
    <div class="notice-page" aria-busy="true">
      <p class="visually-hidden" role="status">
        Loading the description of the API
      </p>
      <div class="bone bone-title" />
      <div class="bone" />
      <div class="bone bone-short" />
      <div class="bone bone-block" />
    </div>
  )
}

/** When the description cannot be had. */
export function FailedPage({ message }: { message: string }) {
  return (
    <div class="notice-page">
      <PageTitle title="The description is missing" />
      <p class="lead" role="alert">
        {message}
      </p>
      <p>
        This page is made from <code>{documentPath}</code>, which the server itself writes. If the
        server runs, try again.
      </p>
      <button type="button" class="button" onClick={() => void loadDocument()}>
        Try again
      </button>
    </div>
  )
}

/** When the address names an operation that does not exist. */
export function UnknownPage({ id }: { id: string }) {
  return (
    <div class="notice-page">
      <PageTitle title="No such operation" />
      <p class="lead">
        This server has no operation named <code>{id}</code>.
      </p>
      <p>
        <a href="#overview">All operations</a>
      </p>
    </div>
  )
}
