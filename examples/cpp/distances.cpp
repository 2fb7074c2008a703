// Answers distances from a model that was compiled ahead of time: no Python, only libtorch.
//
//     distances MODEL.pt2 WIDTH < pairs
//
// Each line of the input has the WIDTH numbers of one object, then those of another one; each line of the output has
// their distance.

#include <cstdlib>
#include <iostream>
#include <vector>

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>

int main(int count, char** arguments) {
  if (count != 3 || std::atoi(arguments[2]) <= 0) {
    std::cerr << "usage: distances MODEL.pt2 WIDTH < pairs\n";
    return 2;
  }
  const int64_t width = std::atoi(arguments[2]);
  std::vector<float> numbers;
  for (float number; std::cin >> number;) numbers.push_back(number);
  const auto pairs = static_cast<int64_t>(numbers.size()) / (2 * width);
  if (pairs == 0 || static_cast<int64_t>(numbers.size()) != pairs * 2 * width) {
    std::cerr << "pairs: expected " << 2 * width << " numbers a line, got " << numbers.size() << " in all\n";
    return 2;
  }
  try {
    c10::InferenceMode no_gradients;
    torch::inductor::AOTIModelPackageLoader model(arguments[1]);
    const auto both = torch::from_blob(numbers.data(), {pairs, 2, width});
    const auto distances = model.run({both.select(1, 0).contiguous(), both.select(1, 1).contiguous()})[0];
    std::cout.precision(9);
    for (int64_t i = 0; i < pairs; ++i) std::cout << distances[i].item<float>() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
