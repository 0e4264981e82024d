// Reads YAML or JSON from files that a command line names; `-` is stdin.
import { readFileSync } from 'node:fs'
import { UsageError } from '../../base/usage-error.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeYaml } from '../../codec/yaml.js'
import type { Value } from '../../meta/values/value.js'

/** The first document of a file. Throws a UsageError. */
export const readValue = (file: string): Value => decode(readBytes(file), file)

/** All documents of a file. */
export const readDocuments = (file: string): Value[] =>
  readBytes(file)
    .toString()
    .split(/^---(?:[ \t].*)?$/m)
    .filter(text => text.trim() !== '')
    .map(text => decode(Buffer.from(text), file))

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UsageError(code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read: ${message}`)
  }
}

function decode(bytes: Buffer, file: string): Value {
  try {
    return decodeYaml(bytes).value
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new UsageError(`${file} is neither YAML nor JSON: ${error.message}`)
  }
}
