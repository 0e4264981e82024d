import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest begin first, so that no core is idle at the end. Other files are in vitest's order. */
const LONGEST = ['test/conformance/conformance.test.ts', 'test/console/console.test.ts']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some(name => moduleId.endsWith(name))
    // oxlint-disable-next-line unicorn/no-array-sort -- the order of vitest, not of an array
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts'],
          pool: 'threads',
          isolate: false,
          // A limit against endless tests only: on a busy machine everything takes several times as long.
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Browsers, replicas and killed processes depend on the machine. A test that passes at the second try is reported so.
          retry: process.env['CI'] === 'true' ? 1 : 0,
        },
      },
    ],
  },
})
