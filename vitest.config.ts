import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
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
