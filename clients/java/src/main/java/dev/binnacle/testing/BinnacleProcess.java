package dev.binnacle.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The executable, started with its objects in memory and its files in a temporary directory. */
final class BinnacleProcess {
  private static final Pattern READY = Pattern.compile("ready at (\\S+?),");
  private static final int STOP_SECONDS = 20;

  private final Process process;
  private final Path directory;
  private final Thread endsWithThisProgram = new Thread(this::stop);
  final String url;

  private BinnacleProcess(Process process, Path directory, String url) {
    this.process = process;
    this.directory = directory;
    this.url = url;
    Runtime.getRuntime().addShutdownHook(endsWithThisProgram);
  }

  static BinnacleProcess start(List<String> flags) {
    try {
      Path directory = Files.createTempDirectory("binnacle-");
      File errors = directory.resolve("stderr").toFile();
      Process process = new ProcessBuilder(commandLine(directory, flags)).redirectError(errors).start();
      BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
      String line = output.readLine();
      Matcher ready = READY.matcher(line == null ? "" : line);
      if (ready.find()) {
        return new BinnacleProcess(process, directory, ready.group(1));
      }
      process.destroyForcibly().waitFor();
      String reason = Files.readString(errors.toPath()).trim();
      delete(directory);
      throw new IllegalStateException("binnacle did not start: " + reason);
    } catch (IOException error) {
      throw new UncheckedIOException(
          "binnacle did not start: run `npm install --global binnacle`, or let BINNACLE name the executable", error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(error);
    }
  }

  /** Its standard input ends with this program, so that the server stops also when the test is killed. */
  private static List<String> commandLine(Path directory, List<String> flags) {
    String program = System.getenv().getOrDefault("BINNACLE", "binnacle");
    List<String> words = new ArrayList<>(List.of(program.trim().split("\\s+")));
    words.addAll(List.of("serve", "--testing", "--stop-with-stdin", "--secure-port=0", "--data-dir=" + directory));
    words.addAll(flags);
    return words;
  }

  String kubeconfig() {
    try {
      return Files.readString(directory.resolve("kubeconfig"));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  void close() {
    Runtime.getRuntime().removeShutdownHook(endsWithThisProgram);
    stop();
  }

  private void stop() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      delete(directory);
    } catch (InterruptedException error) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
