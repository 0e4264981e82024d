// Reads files, folders and stdin into documents. What cannot be read is a finding with its position, and the rest goes on.
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../base/usage-error.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import { decodeYaml } from '../../codec/yaml.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { createFinding, type Finding } from '../findings.js'
import { type Document, lineOf } from './document.js'
import { type Part, splitDocuments } from './split-documents.js'

export interface ReadDocuments {
  readonly documents: readonly Document[]
  readonly findings: readonly Finding[]
  /** The files that were read. */
  readonly files: number
  /** Documents in folders that are no objects of an API, such as the values of a chart. */
  readonly others: number
}

/** No repository has manifests of this size; the server refuses objects of more than 3 MiB. */
const MAX_FILE_BYTES = 64 * 1024 * 1024
const MANIFEST = /\.(?:ya?ml|json)$/i
const SKIPPED_FOLDERS = new Set(['node_modules', '.git'])

/** `-` is stdin. Throws a UsageError for a path that does not exist. */
export function readDocuments(paths: readonly string[]): ReadDocuments {
  const into: Reading = { documents: [], findings: [], files: 0, others: 0, seen: new Set() }
  for (const path of paths) {
    if (path === '-') readBytes(readFileSync(0), { file: '<stdin>', isNamed: true }, into)
    else if (statOf(path).isDirectory()) readFolder(path, into)
    else readFile(path, true, into)
  }
  return into
}

interface Reading {
  readonly documents: Document[]
  readonly findings: Finding[]
  files: number
  others: number
  /** The real paths of files and folders that were read, since links may lead to one place twice, or in circles. */
  readonly seen: Set<string>
}

type Source = Pick<Document, 'file' | 'isNamed'>

function statOf(path: string): ReturnType<typeof statSync> & object {
  try {
    return statSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new UsageError(`there is no file or folder ${path}`)
    if (code === 'ELOOP') throw new UsageError(`${path} is a symbolic link that leads back to itself`)
    throw new UsageError(`${path} cannot be read: ${message}`)
  }
}

function readFolder(folder: string, into: Reading): void {
  const real = realpathSync(folder)
  if (into.seen.has(real)) return
  into.seen.add(real)
  const entries = readdirSync(folder, { withFileTypes: true })
  for (const { name } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, name)
    // A link that leads nowhere, or to itself, is no manifest.
    const stat = safeStat(path)
    if (stat?.isDirectory() && !SKIPPED_FOLDERS.has(name)) readFolder(path, into)
    else if (stat?.isFile() && MANIFEST.test(name)) readFile(path, false, into)
  }
}

function safeStat(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function readFile(path: string, isNamed: boolean, into: Reading): void {
  const real = realpathSync(path)
  if (into.seen.has(real)) return
  into.seen.add(real)
  const { size } = statSync(path)
  if (size > MAX_FILE_BYTES) {
    const mib = Math.round(size / 1024 / 1024)
    const message = `the file has ${mib} MiB, and files of more than ${MAX_FILE_BYTES / 1024 / 1024} MiB are not read`
    const hint = 'divide it: the server takes 3 MiB an object'
    into.findings.push(unreadable({ file: path, isNamed }, { message, hint }))
    return
  }
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if (isNamed) throw new UsageError(`${path} cannot be read: ${(error as Error).message}`)
    into.findings.push(unreadable({ file: path, isNamed }, { message: (error as Error).message }))
    return
  }
  readBytes(bytes, { file: path, isNamed }, into)
}

function readBytes(bytes: Buffer, source: Source, into: Reading): void {
  into.files++
  const isJson = /^\s*\{/.test(bytes.subarray(0, 200).toString('latin1')) && isWholeJson(bytes)
  const parts = isJson ? [{ bytes, firstLine: 0 }] : splitDocuments(bytes)
  if (parts.length === 0 && source.isNamed) {
    into.findings.push(unreadable(source, { message: 'the file holds no document', severity: 'warning' }))
  }
  for (const part of parts) readPart(part, isJson, source, into)
}

function isWholeJson(bytes: Buffer): boolean {
  try {
    decodeJson(bytes)
    return true
  } catch {
    return false
  }
}

function readPart(part: Part, isJson: boolean, source: Source, into: Reading): void {
  const { bytes, firstLine } = part
  const value = decode(part, isJson, source, into)
  if (value === undefined || value === null) return
  if (!isObject(value) || !isText(getOwn(value, 'kind')) || !isText(getOwn(value, 'apiVersion'))) {
    if (!source.isNamed) {
      into.others++
      return
    }
    const message = isObject(value)
      ? `an object of the API needs apiVersion and kind, and this document has ${has(value)}`
      : 'this document is not an object'
    into.findings.push(unreadable(source, { message }, firstContentLine(bytes), part))
    return
  }
  const template = /^# Source: (.+)$/m.exec(bytes.toString('utf8', 0, 500))?.[1]
  const mediaType = isJson ? 'application/json' : 'application/yaml'
  const whole: Document = { ...source, firstLine, bytes, mediaType, value, template }
  into.documents.push(...(isList(value) ? itemsOf(whole) : [whole]))
}

/** The first line that is neither blank nor a comment nor the separator, counted from 1. */
function firstContentLine(bytes: Buffer): number {
  const lines = bytes.toString('utf8', 0, 10_000).split('\n')
  return (
    Math.max(
      0,
      lines.findIndex(line => !/^\s*(?:#.*|---.*)?$/.test(line)),
    ) + 1
  )
}

const isText = (value: Value | undefined): boolean => typeof value === 'string' && value !== ''

function has(value: ValueObject): string {
  const given = ['apiVersion', 'kind'].filter(name => isText(getOwn(value, name)))
  return given.length === 0 ? 'neither' : `only ${given[0]}`
}

function isList(value: ValueObject): boolean {
  return (value['kind'] as string).endsWith('List') && Array.isArray(getOwn(value, 'items'))
}

/** The items of a List are objects of their own, as kubectl reads them. */
function itemsOf(whole: Document): readonly Document[] {
  const items = whole.value['items'] as readonly Value[]
  return items.flatMap((item, index): readonly Document[] =>
    isObject(item)
      ? [
          {
            ...whole,
            value: item,
            bytes: Buffer.from(encodeJson(item)),
            mediaType: 'application/json',
            item: { of: whole.bytes, index },
          },
        ]
      : [],
  )
}

function decode(part: Part, isJson: boolean, source: Source, into: Reading): Value | undefined {
  const { bytes } = part
  try {
    return (isJson ? decodeJson(bytes) : decodeYaml(bytes)).value
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    const [, line = '1', problem] = /^yaml: (?:line (\d+): )?([\s\S]*)/.exec(error.message) ?? []
    const hint = bytes.includes('{{')
      ? 'this looks like a template of Helm: render it first (helm template … | binnacle validate -)'
      : undefined
    // A folder may hold templates beside manifests.
    const severity = hint !== undefined && !source.isNamed ? 'note' : 'error'
    const message = `this is not YAML: ${problem ?? error.message}`
    into.findings.push(unreadable(source, { message, hint, severity }, Number(line), part))
    return undefined
  }
}

interface Problem {
  readonly message: string
  readonly hint?: string | undefined
  readonly severity?: Finding['severity'] | undefined
}

/** `line` is counted from 1 in the part of the file. */
function unreadable(
  { file }: Source,
  { message, hint, severity = 'error' }: Problem,
  line = 1,
  { bytes, firstLine }: Part = NO_PART,
): Finding {
  const at = { file, line: firstLine + line, column: 1, text: lineOf(bytes, line) }
  return createFinding({ rule: 'unreadable', severity, message, hint, at })
}

const NO_PART: Part = { bytes: Buffer.alloc(0), firstLine: 0 }
