// The addresses of the views, in one place. They are paths below `/console`.

import { query } from './api/client.js'
import type { Resource } from './api/resource.js'

type Named = Pick<Resource, 'group' | 'version' | 'name'>

/** In a path an empty part cannot stand: the core group is `core`, and no namespace is `_`. */
const CORE = 'core'
const NO_NAMESPACE = '_'

export const groupOf = (part: string): string => (part === CORE ? '' : part)
export const namespaceOf = (part: string): string => (part === NO_NAMESPACE ? '' : part)

const resourcePart = ({ group, version, name }: Named): string => `${group === '' ? CORE : group}/${version}/${name}`

export const browseLink = (resource: Named, parameters: Readonly<Record<string, string>> = {}): string =>
  `/r/${resourcePart(resource)}${query(parameters)}`

export const objectLink = (
  resource: Named,
  namespace: string | undefined,
  name: string,
  parameters: Readonly<Record<string, string>> = {},
): string =>
  `/r/${resourcePart(resource)}/${namespace ? encodeURIComponent(namespace) : NO_NAMESPACE}/${encodeURIComponent(name)}${query(parameters)}`

export const createLink = (resource: Named, namespace: string): string =>
  `/new/${resourcePart(resource)}${query({ namespace })}`

export const definitionLink = (name: string): string => `/definitions/${encodeURIComponent(name)}`
