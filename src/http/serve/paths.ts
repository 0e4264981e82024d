// The handlers of paths that name no resource.

import type { IncomingRequest } from '../wire/incoming-request.js'

/** Serves a path. Errors are thrown, as StatusErrors. */
export type PathHandler = (request: PathRequest) => Promise<void> | void

export type PathRequest = Pick<IncomingRequest, 'info' | 'user' | 'impersonator' | 'readBody' | 'reply' | 'cbor'>

/** The handler of a path, if there is one. */
export type FindPath = (path: string) => PathHandler | undefined

/** By path. One that ends in `/*` serves all paths below it that no longer one serves. */
export type PathTable = ReadonlyMap<string, PathHandler>

export function findIn(table: PathTable): FindPath {
  const longest = Math.max(0, ...[...table.keys()].map(path => path.length))
  return path => {
    const exact = table.get(path)
    if (exact) return exact
    // What a client asks for may be very long.
    for (let end = path.lastIndexOf('/', longest); end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
      const below = table.get(`${path.slice(0, end)}/*`)
      if (below) return below
    }
    return undefined
  }
}

/** The first handler that is found. */
export function firstOf(...finders: readonly FindPath[]): FindPath {
  return path => {
    for (const find of finders) {
      const handler = find(path)
      if (handler) return handler
    }
    return undefined
  }
}
