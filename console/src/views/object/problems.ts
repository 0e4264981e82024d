// Problems of a text at their lines: of syntax, by the schema, and those that the server named.
import type { StatusCause } from '../../api/client.js'
import type { KindSchema } from '../../api/openapi.js'
import type { LineProblem } from '../../editor/object-extensions.js'
import { parseFieldPath, resolveConflictPath } from '../../yaml/field-path.js'
import { validate } from '../../yaml/validate.js'
import { lineOf, printPath, type YamlDocument } from '../../yaml/yaml-document.js'

export function findProblems(
  document: YamlDocument,
  schema: KindSchema | undefined,
  causes: readonly StatusCause[],
): readonly LineProblem[] {
  if (document.error !== undefined) return [{ ...document.error, severity: 'error', source: 'YAML' }]
  const bySchema =
    schema === undefined || document.value === undefined
      ? []
      : validate(document.value, schema).map(
          ({ path, message }): LineProblem => ({
            line: lineOf(document, path),
            message: `${printPath(path)}: ${message}`,
            severity: 'warning',
            source: 'schema',
          }),
        )
  const byServer = causes.map(({ field = '', message = '', reason = '' }): LineProblem => {
    const isConflict = reason === 'FieldManagerConflict'
    const path = isConflict ? resolveConflictPath(field, document.value) : parseFieldPath(field)
    return { line: lineOf(document, path), message: `${field}: ${message}`, severity: 'error', source: 'server' }
  })
  return [...byServer, ...bySchema]
}
