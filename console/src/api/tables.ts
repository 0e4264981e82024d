// Tables: the rows and columns that the server makes of a list, as `kubectl get` prints them.
import type { ObjectMeta } from './resource.js'

export const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  /** 0 is always shown, others in the wide view. */
  readonly priority?: number
}

export interface TableRow {
  readonly cells: readonly unknown[]
  readonly object: { readonly metadata: ObjectMeta }
}

export interface Table {
  readonly metadata: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  /** Only the first event of a watch has them. */
  readonly columnDefinitions?: readonly TableColumn[] | null
  readonly rows?: readonly TableRow[] | null
}
