// Compares an answer of a replay with the recorded one. What a server chooses itself differs each time: uids,
// resourceVersions, generated names, tokens, continue tokens, certificates, addresses and times. The first time such a value comes, it is
// noted what it was in the record, so that later requests can be sent with the value of this time.
import { stringAt } from '../../meta/values/access.js'
import { isObject, type Value } from '../../meta/values/value.js'

export interface AnswerDifference {
  /** `spec.replicas`; empty for the whole answer. */
  readonly field: string
  readonly recorded: Value | undefined
  readonly replayed: Value | undefined
}

/** The values of this time for those of the record. */
export interface Translation {
  /**
   * A recorded text with the values of this time in it: a path, or a body. A resourceVersion of which the record does not say
   * what it was of becomes `otherVersion`.
   */
  translate(text: string, otherVersion?: string): string
  /** Where an answer differs from the recorded one. `isLoose`: a field that is empty may be missing. */
  compare(
    recorded: Value | undefined,
    replayed: Value | undefined,
    isLoose: boolean,
    field?: string,
  ): readonly AnswerDifference[]
  copy(): Translation
}

interface Known {
  /** Of uids, tokens and generated names, which are found wherever they stand. */
  readonly texts: ReadonlyMap<string, string>
  readonly versions: ReadonlyMap<string, string>
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const VERSION = /^\d+$/
const AGE = /^(<unknown>|\d+(s|m|h|d|y)(\d+(s|m|h|d))?)$/
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/
const CERTIFICATE = /^-----BEGIN CERTIFICATE-----/
/** A resourceVersion in JSON, in YAML, in a JSON Patch and in a query. */
const VERSION_IN_TEXT =
  /((?:resourceVersion["']?\s*:\s*["']?|resourceVersion"\s*,\s*"value"\s*:\s*"|[?&]resourceVersion=))(\d+)/g
/** The names in texts: of a path, of JSON or of YAML. */
const WORD = /[A-Za-z0-9._-]+/g
/** Chosen by the server if the client leaves them out. */
const ALLOCATED = new Set(['clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort'])
/** Messages of these have resourceVersions in them. */
const NAMES_VERSIONS = new Set(['Expired', 'Conflict', 'Timeout'])

export function createTranslation({ texts: from, versions: known }: Known = NOTHING): Translation {
  const texts = new Map(from)
  const versions = new Map(known)

  const translate = (text: string, otherVersion?: string): string =>
    text
      .replace(UUID, uid => texts.get(uid) ?? uid)
      .replace(VERSION_IN_TEXT, (_, before: string, version: string) => {
        const other = version === '0' ? version : (otherVersion ?? version)
        return before + (versions.get(version) ?? other)
      })
      .replace(WORD, word => texts.get(word) ?? word)

  function isSameText(recorded: string, replayed: string, key: string, parent: Value): boolean {
    const both = (pattern: RegExp): boolean => pattern.test(recorded) && pattern.test(replayed)
    const note = (into: Map<string, string>): boolean => {
      if (!into.has(recorded)) into.set(recorded, replayed)
      return true
    }
    if (key === 'resourceVersion' && both(VERSION)) return note(versions)
    if (key === 'uid' && recorded.length === UID_LENGTH && replayed.length === UID_LENGTH) {
      return texts.has(recorded) ? texts.get(recorded) === replayed : note(texts)
    }
    if (recorded === replayed || translate(recorded) === replayed) return true
    if (key === 'continue' && recorded !== '' && replayed !== '') return note(texts)
    if (key === 'name' && isObject(parent) && typeof parent['generateName'] === 'string') {
      const prefix = parent['generateName']
      return prefix !== '' && recorded.startsWith(prefix) && replayed.startsWith(prefix) && note(texts)
    }
    if (both(TOKEN)) return note(texts)
    if (key === 'message' && isObject(parent) && NAMES_VERSIONS.has(stringAt(parent, 'reason'))) {
      return translate(recorded).replace(/\d+/g, '#') === replayed.replace(/\d+/g, '#')
    }
    return (
      both(TIME) ||
      both(CERTIFICATE) ||
      (key === 'cells' && both(AGE)) ||
      withoutUids(recorded) === withoutUids(replayed)
    )
  }

  function compare(
    recorded: Value | undefined,
    replayed: Value | undefined,
    isLoose: boolean,
    field = '',
    key = '',
    parent: Value = null,
  ): AnswerDifference[] {
    if (typeof recorded === 'string' && typeof replayed === 'string') {
      const isSame = ALLOCATED.has(key) || isSameText(recorded, replayed, key, parent)
      return isSame ? [] : [{ field, recorded, replayed }]
    }
    if (typeof recorded === 'number' && typeof replayed === 'number' && ALLOCATED.has(key)) return []
    if (isObject(recorded) && isObject(replayed)) {
      // First, so that a generated name is known wherever it stands.
      const names = ['metadata', ...Object.keys(recorded).filter(name => name !== 'metadata')]
      const now = new Map(names.map(name => [name, isKeyOfItem(name) ? translate(name) : name]))
      const added = Object.keys(replayed).filter(name => !now.has(name) && ![...now.values()].includes(name))
      return [...names, ...added].flatMap(name =>
        compare(
          recorded[name],
          replayed[now.get(name) ?? name],
          isLoose,
          field === '' ? name : `${field}.${name}`,
          name,
          recorded,
        ),
      )
    }
    if (Array.isArray(recorded) && Array.isArray(replayed) && recorded.length === replayed.length) {
      return recorded.flatMap((each, i) => compare(each, replayed[i], isLoose, `${field}[${i}]`, key, parent))
    }
    if (recorded === replayed || (isLoose && isEmpty(recorded) && isEmpty(replayed))) return []
    return [{ field, recorded, replayed }]
  }

  return {
    translate,
    compare: (recorded, replayed, isLoose, field) => compare(recorded, replayed, isLoose, field),
    copy: () => createTranslation({ texts, versions }),
  }
}

/** Field ownership names the items of a list by their keys: `k:{"uid":"…"}`. */
const isKeyOfItem = (name: string): boolean => name.startsWith('k:')

const NOTHING: Known = { texts: new Map(), versions: new Map() }
const UID_LENGTH = 36
/** In names such as those of events, and in messages. */
const withoutUids = (text: string): string => text.replace(UUID, '')

const isEmpty = (value: Value | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.values(value).every(isEmpty))
