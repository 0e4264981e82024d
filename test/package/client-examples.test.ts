// The README of each package in clients/ shows an operator with its test: the file that the package's own tests run.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../clients/${path}`, import.meta.url)), 'utf8')

test.each([
  ['go', 'operator_test.go'],
  ['java', 'src/test/java/dev/binnacle/testing/OperatorTest.java'],
  ['python', 'tests/test_operator.py'],
  ['rust', 'tests/operator.rs'],
])('the README of clients/%s has %s', (language, file) => {
  const [, example] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(read(`${language}/README.md`))!
  expect(example).toBe(read(`${language}/${file}`))
})
