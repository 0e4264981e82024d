// Rows of a Table that can be sent again later. Between two requests nothing changes in them but the age of the objects, so
// that its place is left open in their bytes.

import { encodeJson } from '../codec/json.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { IncludeObject } from '../meta/table.js'
import { humanDuration, millisOf } from '../meta/values/time.js'
import type { Value } from '../meta/values/value.js'
import type { ShownAs } from './output-format.js'
import { type Rows, rowOf } from './table.js'

export interface KeptRows {
  /** Each with a comma before it, and without ages. */
  readonly bytes: Buffer
  /** Pairs: where an age belongs, and when the object was created, in milliseconds. */
  readonly ages: Float64Array
}

/** Undefined if a cell changes with time and is not the age of the object. */
export function keptRows(
  objects: readonly ApiObject[],
  as: ShownAs,
  rows: Rows,
  include: IncludeObject,
): KeptRows | undefined {
  const parts: string[] = []
  const ages: number[] = []
  let size = 0
  const add = (text: string): void => {
    parts.push(text)
    size += Buffer.byteLength(text)
  }
  for (const object of objects) {
    const { cells, ...rest } = rowOf(object, as, rows, include, 0)
    const created = createdAt(object)
    const kinds = kindsOfCells(object, cells as Value[], rows, created)
    add(',{"cells":[')
    let separator = ''
    for (const [i, cell] of (cells as Value[]).entries()) {
      if (kinds[i] === 'other') return undefined
      if (kinds[i] === 'constant') add(separator + encodeJson(cell))
      else {
        add(`${separator}"`)
        ages.push(size, created)
        add('"')
      }
      separator = ','
    }
    add(`],${encodeJson(rest).slice(1)}`)
  }
  return { bytes: Buffer.from(parts.join('')), ages: Float64Array.from(ages) }
}

const createdAt = ({ metadata: { creationTimestamp } }: ApiObject): number =>
  typeof creationTimestamp === 'string' ? millisOf(creationTimestamp) : Number.NaN

/** At the first and at the last moment there is, any age is printed differently. */
const LAST_MOMENT = 8.64e15

/** Finds by clocks that show other times what a cell depends on. `cells` are those at the first moment, 0. */
function kindsOfCells(
  object: ApiObject,
  cells: readonly Value[],
  rows: Rows,
  created: number,
): readonly ('constant' | 'age' | 'other')[] {
  const last = rows.tableRow(object, LAST_MOMENT)
  // An age that becomes 60 seconds at the first of these moments and stays so until the second one began at `created`.
  const minutes = [60_000, 60_999].map(age => rows.tableRow(object, created + age))
  return cells.map((cell, i) => {
    if (encodeJson(cell) === encodeJson(last[i]!)) return 'constant'
    return minutes.every(row => row[i] === '60s') ? 'age' : 'other'
  })
}

/** The longest age, and more. */
const AGE_BYTES = 16

export function withAges({ bytes, ages }: KeptRows, now: number): Buffer {
  if (ages.length === 0) return bytes
  const filled = Buffer.allocUnsafe(bytes.length + (ages.length / 2) * AGE_BYTES)
  let from = 0
  let to = 0
  for (let i = 0; i < ages.length; i += 2) {
    const at = ages[i]!
    to += bytes.copy(filled, to, from, at)
    to += filled.write(humanDuration(now - ages[i + 1]!), to, 'latin1')
    from = at
  }
  to += bytes.copy(filled, to, from)
  return filled.subarray(0, to)
}
