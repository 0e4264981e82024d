// All containers of a pod, each with the path that errors and warnings name.
import { childPath, indexPath } from '../../../../meta/errors/field-errors.js'
import { objectsAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'

export interface ContainerAt {
  readonly container: ValueObject
  readonly path: string
}

/** Init containers first. `path` is that of the spec. */
export const allContainers = (spec: ValueObject, path: string): ContainerAt[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap(list =>
    objectsAt(spec, list).map((container, i) => ({ container, path: indexPath(childPath(path, list), i) })),
  )
