/**
 * The picture of a val, if it has one that is in its record: a picture at another address is not
 * loaded, because that would tell other servers who reads this.
 */
export function ValPicture({ url = "" }: { url?: string | undefined }) {
  return url.startsWith("data:image/") ? (
    <img
      class="val-picture"
      src={url}
      alt=""
      width="24"
      height="24"
      loading="lazy"
      referrerpolicy="no-referrer"
      onError={({ currentTarget }) => {
        currentTarget.hidden = true
      }}
    />
  ) : null
}
