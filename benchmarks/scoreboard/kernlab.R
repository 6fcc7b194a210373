# A contender from R's kernlab, with the protocol of worker.py: Rscript kernlab.R WHAT FILE N D GAMMA [K or NU] [OUT]
# FILE holds the rows as float64, row after row. With OUT the answer itself is written there, as float64.
suppressMessages(library(kernlab))
arguments <- commandArgs(trailingOnly = TRUE)
what <- arguments[1]
n <- as.integer(arguments[3])
d <- as.integer(arguments[4])
gamma <- as.numeric(arguments[5])
setting <- as.numeric(arguments[6])
out <- if (length(arguments) > 6) arguments[7] else ""
X <- t(matrix(readBin(arguments[2], "double", n * d), d, n))

status <- function(name) {
  line <- grep(paste0("^", name), readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(strsplit(trimws(sub(".*:", "", line)), " ")[[1]][1])
}
forget_peak <- function() try(cat("5", file = "/proc/self/clear_refs"), silent = TRUE)
say <- function(text) { cat("@@", text, "\n", sep = ""); flush(stdout()) }
kernel <- list(sigma = gamma)

run <- function(turn, attempt) {
  if (what == "kpca") {
    m <- kpca(X, kernel = "rbfdot", kpar = kernel, features = setting)
    list(answer = sum(eig(m)), full = c(as.numeric(eig(m)), as.vector(rotated(m))))
  } else if (what == "svdd") {
    m <- ksvm(X, type = "one-svc", kernel = "rbfdot", kpar = kernel, nu = setting, scaled = FALSE, tol = 1e-3,
              cross = 0, fit = FALSE, cache = 200)
    list(answer = nSV(m), full = if (nzchar(out)) as.vector(predict(m, X, type = "decision")) else 0)
  } else if (what == "cmeans") {
    set.seed(turn + 100 * attempt)
    m <- kkmeans(X, centers = as.integer(setting), kernel = "rbfdot", kpar = kernel)
    labels <- as.vector(m@.Data)
    list(answer = length(unique(labels)), full = as.numeric(labels))
  }
}

say('{"ready": true}')
turn <- 0
input <- file("stdin", "r")
while (length(readLines(input, 1)) > 0) {
  for (attempt in 0:4) {  # kkmeans stops with an error when a cluster shrinks to one row: it may start again, untimed
    invisible(gc(reset = TRUE))
    forget_peak()
    before <- status("VmRSS")
    found <- NULL
    seconds <- system.time(try(found <- run(turn, attempt)))[["elapsed"]]
    if (!is.null(found)) break
  }
  peak <- max(status("VmHWM") - before, 0)
  if (nzchar(out)) writeBin(found$full, out)
  say(sprintf('{"seconds": %.4f, "peak_bytes": %.0f, "answer": %.10g}', seconds, peak, found$answer))
  turn <- turn + 1
}
