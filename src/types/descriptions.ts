// The texts that describe built-in types and their fields. They are in `data/descriptions`, a file for each API group, and
// are read when the first of them is needed. A field that means the same everywhere is described once, in `shared.json`.
import { readFileSync } from 'node:fs'
import { once } from '../base/memo.js'
import { bareName } from './type.js'

/** The texts of a type by field; that of the type itself is under the empty name. */
export type Texts = Readonly<Record<string, string>>

type TextsByType = Readonly<Record<string, Texts>>

const GROUPS = [
  'admissionregistration',
  'apiextensions',
  'apiregistration',
  'apiserverinternal',
  'apps',
  'authentication',
  'authorization',
  'autoscaling',
  'batch',
  'certificates',
  'coordination',
  'core',
  'discovery',
  'events',
  'flowcontrol',
  'meta',
  'networking',
  'node',
  'policy',
  'rbac',
  'resource',
  'scheduling',
  'storage',
  'storagemigration',
]

const read = (file: string): TextsByType =>
  JSON.parse(readFileSync(new URL(`../../data/descriptions/${file}.json`, import.meta.url), 'utf8')) as TextsByType

const files: ReadonlyMap<string, () => TextsByType> = new Map(GROUPS.map(group => [group, once(() => read(group))]))

const NO_TEXTS: Texts = {}

/** The name of a type begins with its group: `apps/v1.Deployment`. */
export const textsOfType = (type: string): Texts => files.get(type.split('/', 1)[0]!)?.()[bareName(type)] ?? NO_TEXTS

/** Texts of types that have no group of their own. */
export const metaTexts = files.get('meta')!

const shared = once(() => read('shared'))

/** Texts of fields of any type; or of the types whose names end as in `*Condition`. */
export const sharedTexts = (pattern: '' | '*Condition'): Texts => shared()[pattern] ?? NO_TEXTS
